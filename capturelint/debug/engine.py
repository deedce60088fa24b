"""Judge a case: load it, warm it up, run it as if capturing, capture it, search what is to blame."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from capturelint.debug.attempts.attempt import Tally
from capturelint.debug.backend import Backend, CannotTellError
from capturelint.debug.bypassed import Bypassed, eager_calls
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cold_captures import judge_cold
from capturelint.debug.drypass import DryPass, both, dry_pass, executed
from capturelint.debug.environment import environment_of
from capturelint.debug.events import Event
from capturelint.debug.findings import Findings
from capturelint.debug.instance import Current, Instance
from capturelint.debug.killing.killer import Killing
from capturelint.debug.killing.named import killers_named
from capturelint.debug.ledger import Ledger
from capturelint.debug.modules import Modules
from capturelint.debug.outcome import Outcome, decided
from capturelint.debug.pads.batch import batch_of, check_names, with_batch_dims
from capturelint.debug.pads.ground import Ground
from capturelint.debug.pads.judge import PadJudge
from capturelint.debug.pads.leaking import leaking
from capturelint.debug.paths import check_globs
from capturelint.debug.search import search
from capturelint.debug.settings import Settings
from capturelint.debug.soaking import Soaking
from capturelint.debug.together import is_worth_running, together_of
from capturelint.debug.warmup import CannotRunError, Warm, step_of, warmed_up
from capturelint.verdict import ONLY, ROOT, ModuleVerdict, Report, Verdict


def judge(
    load: Callable[[], Case],
    backend: Backend,
    settings: Settings,
    *,
    known: Mapping[str, Outcome],
    emit: Callable[[Event], None],
) -> Report:
    """Return what is to blame in the case that `load` makes. Runs inside the backend's session.

    `known`: outcomes of steps that are not to be run again. `emit`: is told each step and outcome.
    Raises `CaseError` if the case does not run eagerly.
    """
    start = time.monotonic()
    run = _Run(load, backend, settings, Ledger(known, emit, backend.spent))
    report = run.report()
    timings = {
        **{f"{kind} seconds": round(spent, 3) for kind, spent in run.ledger.seconds.items()},
        "seconds": round(time.monotonic() - start, 3),
        "replays": float(settings.replays),
        "attempts": float(run.ledger.attempts),
        "forwards": float(run.tally.forwards),
    }
    return replace(report, timings=timings)


class _Run:
    """One run of one case."""

    def __init__(
        self, load: Callable[[], Case], backend: Backend, settings: Settings, ledger: Ledger
    ) -> None:
        self.load = load
        self.backend = backend
        self.settings = settings
        self.ledger = ledger
        self.tally = Tally()
        self.findings = Findings()

    def report(self) -> Report:
        """Return the report, without its timings. A case that cannot be loaded is undecided."""
        try:
            return self._report()
        except CannotTellError as error:
            return Report(
                case="",
                backend=self.backend.name,
                verdict=Verdict.UNDECIDED,
                modules=(ModuleVerdict("", "", Verdict.UNDECIDED, 0, str(error)),),
                notes=self.backend.notes(),
                environment=environment_of(self.backend, {}),
            )

    def _report(self) -> Report:
        if self.settings.cold or self.settings.warmup == 0:
            if self.settings.modules:
                raise CaseError("a cold capture is of the whole case; drop --modules")
            judge_cold(
                self.load,
                self.backend,
                self.settings,
                ledger=self.ledger,
                tally=self.tally,
                findings=self.findings,
            )
        gc.collect()  # of a cold capture, before the case is loaded again
        with self.ledger.timed("load"):
            current = Current(self.load, self.backend, self.settings)
        check_globs("--modules", self.settings.modules, current.instance.modules)
        check_globs("--skip", self.settings.skip, current.instance.modules)
        self._check_after_warm_up(current.instance)
        warm = self.settings.warmup != 0
        instance = self._judge_warm(current) if warm else current.instance
        return self.findings.report(
            backend=self.backend.name,
            environment=environment_of(self.backend, instance.modules),
            notes=(*instance.notes, *self.backend.notes()),
        )

    def _check_after_warm_up(self, instance: Instance) -> None:
        """Raise `CaseError` if what is asked for needs what is left out, or does not fit the case."""
        if self.settings.warmup == 0 and (self.settings.pad or self.settings.soak):
            option = "--pad" if self.settings.pad else "--soak"
            raise CaseError(f"{option} comes after a warm-up; drop --warmup 0")
        if self.settings.pad and (self.settings.modules or self.settings.skip):
            option = "--modules" if self.settings.modules else "--skip"
            raise CaseError(f"pad rows are those of the whole case; drop {option}")
        if self.settings.batch_dim and not self.settings.pad:
            raise CaseError("--batch-dim is about pad rows; add --pad")
        if self.settings.pad:
            case = with_batch_dims(instance.case, self.settings.batch_dim)
            check_names(instance.parts, case)

    def _judge_warm(self, current: Current) -> Instance:
        """Judge the case after a warm-up. Return the instance that was judged."""
        try:
            with self.ledger.timed("warm up"):
                warm = warmed_up(current, self.load, self.backend, self.settings, self.tally)
        except CannotRunError as error:
            self.findings.add_undecided(current.instance, str(error), error.module)
            return current.instance
        instance = warm.instance
        modules = Modules(warm, self.backend, self.settings, self.ledger, self.tally)
        dry = {name: self._dry_pass(name, instance, modules) for name in instance.parts}
        modules.bypassed = Bypassed(
            dry.values(),
            lambda: eager_calls(
                *(instance, modules.from_start, self.backend, self.settings),
                ledger=self.ledger,
                tally=self.tally,
            ),
        )
        modules.hazards = tuple(one for each in dry.values() for one in each.hazards)
        self.findings.executed = executed(
            list(dry.values()), self.settings.asked, warm.changes, instance.steps.held
        )
        self._judge_together(warm, modules)
        for name in instance.parts:
            self._judge_root(name, warm, modules, dry[name])
            if self.settings.soak:
                self._soak(name, warm, modules)
            if self.settings.pad:
                self._judge_pads(name, warm, modules)
        self.findings.add_warm_up(warm.calls)
        more = 0 if self.settings.modules else self.settings.soak
        steps = self.settings.replays + 1 + more
        self.findings.add_changes(warm.changes, steps=steps, is_soaked=more > 0)
        return instance

    def _dry_pass(self, name: str, instance: Instance, modules: Modules) -> DryPass:
        step = f"dry pass {name}".strip()
        died = self.ledger.died(step)
        if died is not None:
            return DryPass(broke=died.why)
        dry = self._passed(step, name, instance, modules)
        if self.backend.runs_compiled():
            dry = both(dry, self._passed(step, name, instance, modules, compiled=True))
        return dry

    def _passed(
        self, step: str, name: str, instance: Instance, modules: Modules, *, compiled: bool = False
    ) -> DryPass:
        with self.ledger.timed(step), modules.from_start():
            self.tally.forwards += 1
            call = step_of(instance, name, 0, self.backend, self.settings)
            asked = () if compiled else self.settings.asked
            return dry_pass(
                call, self.backend, instance.case.named, name, compiled=compiled, asked=asked
            )

    def _judge_together(self, warm: Warm, modules: Modules) -> None:
        """Judge the callables in their order, where what one leaves may matter to what follows."""
        parts, prepare = warm.instance.parts, warm.instance.prepare
        is_whole = not self.settings.modules and not self.settings.skip
        if not is_whole or (len(parts) == 1 and prepare is None):
            return
        alone = {name: modules.whole(name) for name in parts}
        has_died = any(modules.outcomes[name].died for name in parts)  # as it would again
        if has_died or not is_worth_running(alone.values(), is_prepared=prepare is not None):
            return
        together = together_of(warm, self.backend, self.settings, self.tally, alone)
        for name in parts:
            step = f"together {name}".strip()
            with modules.from_start():
                outcome = self.ledger.outcome(step, partial(together.outcome, name))
            before = modules.outcomes[name]
            modules.outcomes[name] = decided(outcome, before)
            if modules.outcomes[name] is not before:
                modules.closed.add(name)

    def _judge_root(self, name: str, warm: Warm, modules: Modules, dry: DryPass) -> None:
        instance = warm.instance
        roots = modules.roots(name)
        found = [
            one for root in roots for one in search(modules, root, first_only=self.settings.first)
        ]
        killing = Killing(
            warm, modules.from_start, self.backend, self.settings, self.ledger, self.tally
        )
        found = killers_named(found, modules, killing)
        self.findings.add_search(name, roots, found, modules, dry)
        if self.settings.modules:
            judged = ", ".join(one or ROOT for one in roots)
            self.findings.note(f"{ONLY}{judged or 'none, as none that is not left out was called'}")
        else:
            self.findings.add_not_called(name, instance, dry, modules.bypassed.met)

    def _soak(self, name: str, warm: Warm, modules: Modules) -> None:
        """Replay the callable `name` many more times, if it passed."""
        judged = modules.outcomes.get(name)
        if judged is None or judged.verdict.is_failure or judged.verdict is Verdict.UNDECIDED:
            why = "it was not judged as a whole" if judged is None else "it does not pass"
            self.findings.note(f"soak: {name or 'the case'} is not replayed more often, as {why}")
            return
        soaking = Soaking(warm, modules, self.backend, self.settings, self.ledger, self.tally)
        soaked = soaking.soaked(name)
        cls = warm.instance.parts[name].cls
        self.findings.add_soak(name, cls, soaked.outcome, soaked.notes)

    def _judge_pads(self, name: str, warm: Warm, modules: Modules) -> None:
        """Judge whether what pad rows hold moves real rows of the callable `name`. Runs eagerly."""
        part = warm.instance.parts[name]
        ground = Ground(warm, modules, self.backend, self.settings, self.tally)
        case = with_batch_dims(warm.instance.case, self.settings.batch_dim)
        batch = partial(batch_of, part, case, self.backend, self.settings)
        judged = PadJudge(part, batch, ground, self.ledger)
        found = search(judged, name, first_only=self.settings.first)
        self.findings.add_pads(name, leaking(found, judged, ground, self.ledger), judged)
