"""Collect what was found about each callable of a case, and make the report of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from torch import nn

from capturelint.debug.cold_findings import ColdFindings
from capturelint.debug.culprits import culprits_of, in_module
from capturelint.debug.drypass import DryPass, by_line
from capturelint.debug.instance import Instance
from capturelint.debug.modules import Modules
from capturelint.debug.outcome import Outcome
from capturelint.debug.pads.judge import PadJudge
from capturelint.debug.pads.leaking import Leaking
from capturelint.debug.paths import is_below
from capturelint.debug.search import Found, How
from capturelint.debug.states.state import Change
from capturelint.execution import Executed
from capturelint.finding import Effect
from capturelint.verdict import (
    OF_PADS,
    ROOT,
    Culprit,
    Hazard,
    ModuleVerdict,
    Report,
    Verdict,
    worst,
)

_MOST_CHANGES = 3
_BYPASSED = "called eagerly, but not while a stream is being captured"
# Verdicts on graphs that lines which freeze something may explain.
_STALE = frozenset({Verdict.STALE, Verdict.WORK_MISSING, Verdict.EMPTY_GRAPH})


class Findings:
    """What is known so far about all callables of a case. `executed`: of what was to be watched."""

    def __init__(self) -> None:
        self._verdicts: list[Verdict] = []
        self._modules: list[ModuleVerdict] = []
        self._culprits: list[Culprit] = []
        self._hazards: list[Hazard] = []
        self._notes: list[str] = []
        self._cold = ColdFindings()
        self.executed: Executed | None = None

    def add_undecided(self, instance: Instance, why: str, module: str | None) -> None:
        """Add that the case cannot be run faithfully. `module`: where that was met, if known."""
        inside = None if module is None or module in instance.parts else module
        above = why if inside is None else f"what `{inside}` does cannot be run faithfully"
        for name, part in instance.parts.items():
            self._verdicts.append(Verdict.UNDECIDED)
            self._modules.append(ModuleVerdict(name, part.cls, Verdict.UNDECIDED, 0, above))
        if inside is not None:
            cls = type(instance.modules[inside]).__name__
            self._modules.append(ModuleVerdict(inside, cls, Verdict.UNDECIDED, 1, why))

    def note(self, text: str) -> None:
        """Add what the user must know."""
        self._notes.append(text)

    def add_warm_up(self, calls: int) -> None:
        """Add how many calls of each callable warmed it up."""
        self._cold.calls = calls

    def add_changes(
        self, changes: Sequence[Change], *, steps: int, is_soaked: bool = False
    ) -> None:
        """Add what each call changed, where nothing came of it in so many `steps`."""
        more = "" if is_soaked else "; `--soak N` runs more"
        if worst(self._verdicts).is_failure:
            return
        for one in changes[:_MOST_CHANGES]:
            self._notes.append(
                f"each call changes {one.name} ({one.before} -> {one.after}), which a replay does "
                f"not: nothing came of it in {steps} steps{more}"
            )

    def add_cold(
        self,
        instance: Instance,
        name: str,
        outcome: Outcome,
        raised_in: str | None,
        hazards: Sequence[Hazard],
    ) -> None:
        """Add what capturing the callable `name`, without any warm-up, came to.

        `hazards`: of a run as if capturing without one, which the capture does not reach. What
        fails without a warm-up alone is found so only if nothing else is added that fails.
        """
        self._cold.add(instance, name, outcome, raised_in, by_line(hazards))

    def add_search(
        self,
        name: str,
        roots: Sequence[str],
        found: Sequence[Found],
        modules: Modules,
        dry: DryPass,
    ) -> None:
        """Add what the search from `roots` found in the callable `name`."""
        culprits = self._culprits_in(found, modules, dry)
        failing = [root for root in roots if modules.outcomes[root].verdict.is_failure]
        left_out = [path for path in modules.parts if modules.is_left_out(path)]
        for root in failing if not culprits and not left_out else ():
            # The search came to nothing below it; what its capture showed still stands.
            culprits += in_module(
                root, modules.outcomes[root], modules.parts[root].cls, dry.hazards
            )
        together = {one.path for one in found if one.how is How.TOGETHER}
        self._verdicts += _verdicts(roots, found, modules, left_out)
        self._culprits += culprits
        # What may freeze, such as random numbers put back, is no hazard where replays are equal.
        is_stale = not _STALE.isdisjoint(self._verdicts)
        self._hazards += by_line(
            one
            for one in dry.hazards
            if not modules.is_inside_left_out(one.module)
            and (is_stale or one.effect is Effect.REFUSES)
        )
        blamed = [culprit.module for culprit in culprits]
        for path, outcome in modules.outcomes.items():
            if not is_below(path, name) or (path != name and modules.is_inside_left_out(path)):
                continue
            # It failed for what is left out alone: judged without that, it passes.
            is_cleared = bool(left_out) and not any(is_below(one, path) for one in blamed)
            counted = (
                Outcome(Verdict.EQUAL) if is_cleared and outcome.verdict.is_failure else outcome
            )
            self._add_module(path, counted, modules, dry, is_together=path in together)
        self._notes += self._notes_on(name, dry, left_out, modules)

    def add_soak(self, name: str, cls: str, outcome: Outcome, notes: Sequence[str]) -> None:
        """Add what many more replays of a callable came to, which passed before."""
        self._notes += notes
        if outcome.verdict.rank >= Verdict.NONDETERMINISTIC.rank:
            return
        self._verdicts.append(outcome.verdict)
        found = Found(name, outcome.verdict, How.WHOLE)
        self._culprits += culprits_of(found, outcome, (), cls, blamed=())
        self._modules = [
            replace(one, verdict=outcome.verdict, why=outcome.why) if one.path == name else one
            for one in self._modules
        ]

    def add_pads(self, name: str, found: Sequence[Leaking], judged: PadJudge) -> None:
        """Add what pad rows do in the callable `name`. `found`: the modules to blame."""
        self._notes += judged.notes
        outcomes = judged.outcomes
        self._verdicts.append(outcomes[name].verdict)
        self._culprits += [one.culprit(outcomes[name]) for one in found]
        blamed = [one.path for one in found]
        known = {one.path: one for one in self._modules}
        for path, outcome in outcomes.items():
            is_told = path == name or any(is_below(one, path) for one in blamed)
            if outcome.verdict not in (Verdict.PADS, Verdict.UNDECIDED) or not is_told:
                continue
            family = judged.families.get(path)
            cls = known[path].cls if path in known else family.part.cls if family else ""
            calls = known[path].calls if path in known else len(family.base) if family else 0
            why = f"{OF_PADS}{outcome.why}" if outcome.why else ""
            pads = ModuleVerdict(path, cls, outcome.verdict, calls, why)
            before = known.get(path)
            if before is None:
                self._modules.append(pads)
            elif pads.verdict.rank < before.verdict.rank:
                self._modules[self._modules.index(before)] = pads

    def add_not_called(
        self, name: str, instance: Instance, dry: DryPass, bypassed: Collection[str]
    ) -> None:
        """Add the outermost modules of the callable `name` that could be called and were not.

        `bypassed`: those that eager calls alone run.
        """
        judged = {one.path for one in self._modules}
        # A pass that broke off early tells nothing about what would have come.
        if dry.broke:
            return
        idle: list[str] = []
        for path, module in instance.modules.items():
            can_be_called = _has_forward(module)
            is_inside = not is_below(path, name) or any(is_below(path, one) for one in idle)
            was_called = path in judged or dry.calls.get(path)
            if can_be_called and not is_inside and not was_called:
                idle.append(path)
                why = _BYPASSED if path in bypassed else ""
                self._modules.append(
                    ModuleVerdict(path, type(module).__name__, Verdict.NOT_CALLED, 0, why)
                )
        known = [path for path in bypassed if is_below(path, name)]
        if known:
            self._notes.append(f"{_BYPASSED}, and not judged: {', '.join(known)}")

    def report(
        self, *, backend: str, environment: Mapping[str, str], notes: Sequence[str]
    ) -> Report:
        """Return the report. `notes`: more that the user must know."""
        self._count_cold()
        return Report(
            case="",
            backend=backend,
            verdict=worst(self._verdicts),
            modules=tuple(self._modules),
            culprits=tuple(self._culprits),
            hazards=tuple(self._hazards),
            notes=tuple(dict.fromkeys((*notes, *self._notes))),
            environment=environment,
            executed=self.executed,
        )

    def _count_cold(self) -> None:
        """Count what was captured cold, unless it fails warm too."""
        if worst(self._verdicts).is_failure:
            return
        is_warm_too = bool(self._verdicts)
        for cold in self._cold.counted(is_warm_too=is_warm_too):
            verdict = cold.module.verdict
            self._verdicts.append(verdict)
            self._culprits += cold.culprits
            self._notes += [cold.note] if cold.note else []
            if verdict.is_failure or not is_warm_too:
                others = (one for one in self._modules if one.path != cold.module.path)
                self._modules = [cold.module, *others]

    def _culprits_in(self, found: Sequence[Found], modules: Modules, dry: DryPass) -> list[Culprit]:
        culprits: list[Culprit] = []
        for one in found:
            outcome = modules.apart.get(one.path) or modules.outcomes[one.path]
            cls = modules.parts[one.path].cls
            below = [c.place for c in culprits if c.place and is_below(c.module, one.path)]
            culprits += culprits_of(one, outcome, dry.hazards, cls, blamed=below)
        return culprits

    def _add_module(
        self, path: str, outcome: Outcome, modules: Modules, dry: DryPass, *, is_together: bool
    ) -> None:
        verdict = Verdict.FAILS_TOGETHER if is_together else outcome.verdict
        counted = dry.calls.get(path)
        calls = len(modules.parts[path].steps[0]) if counted is None else counted
        self._modules.append(
            ModuleVerdict(path, modules.parts[path].cls, verdict, calls, outcome.why)
        )

    def _notes_on(
        self, name: str, dry: DryPass, left_out: Sequence[str], modules: Modules
    ) -> list[str]:
        notes = list(modules.notes)
        if dry.broke:
            notes.append(f"as if capturing, {name or 'the case'} ended early: {dry.broke}")
        if left_out:
            notes.append(
                f"left out of the capture (--skip): {', '.join(one or ROOT for one in left_out)}"
            )
        return notes


def _has_forward(module: nn.Module) -> bool:
    """Return whether a module can be called: containers such as `ModuleList` cannot."""
    # On a class that TorchScript made, looking `forward` up raises.
    return getattr(type(module), "forward", None) is not nn.Module.forward


def _verdicts(
    roots: Sequence[str], found: Sequence[Found], modules: Modules, left_out: Sequence[str]
) -> list[Verdict]:
    """Return the verdicts that count for the whole: of its roots, and of what was found below."""
    below = [Verdict.FAILS_TOGETHER if one.how is How.TOGETHER else one.verdict for one in found]
    if below and all(verdict is Verdict.FAILS_TOGETHER for verdict in below):
        return below
    if left_out:
        # The roots were judged with what is left out inside: what counts is what is to blame.
        return below or [Verdict.EQUAL for _ in roots]
    return [*(modules.outcomes[root].verdict for root in roots), *below]
