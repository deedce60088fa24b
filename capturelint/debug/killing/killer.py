"""Name the call, the line and the operation with which a graph kills the device or the process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from torch import nn

from capturelint.debug.attempts.attempt import Tally, baked_in, survival
from capturelint.debug.attempts.explanation import Explanation, line_of
from capturelint.debug.attempts.part import Part
from capturelint.debug.attempts.refused import first_line
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.attempts.runs import Runs
from capturelint.debug.backend import Backend, SpentError
from capturelint.debug.frames import sourced
from capturelint.debug.killing.cut import Contents, Cut, contents_seen, cut_off
from capturelint.debug.killing.first import Questions, Sizes, Spot, first_spot
from capturelint.debug.ledger import Ledger
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.warmup import Warm
from capturelint.verdict import ROOT, Certainty, Place, Verdict


class _CannotTellError(Exception):
    """The search cannot go on. The message says why."""


@dataclass(frozen=True, slots=True)
class Killer:
    """What a part dies with. `module`: the path of the deepest that runs then."""

    module: str
    outcome: Outcome


class Killing:
    """Looks for it in the parts of a warm case. `from_start`: puts the state back around a run.

    Each beginning is a step of its own, so that a process that it kills is replaced by one that
    knows of it, and none is tried twice.
    """

    def __init__(
        self,
        warm: Warm,
        from_start: Callable[[], AbstractContextManager[None]],
        backend: Backend,
        settings: Settings,
        ledger: Ledger,
        tally: Tally,
    ) -> None:
        self._warm = warm
        self._from_start = from_start
        self._backend = backend
        self._settings = settings
        self._ledger = ledger
        self._tally = tally
        self._paths = {id(module): path for path, module in reversed(warm.instance.modules.items())}
        self._modules: list[nn.Module] = list(warm.instance.modules.values())

    def killer(self, part: Part, replaced: Sequence[Part], known: Outcome) -> Killer | str:
        """Return what `part` dies with, or why that cannot be told.

        `replaced`: called modules that stand-ins answer for. `known`: what the whole came to.
        """
        hunt = _Hunt(self, part, replaced)
        try:
            spot = first_spot(hunt.questions())
        except _CannotTellError as error:
            return f"what {part.path or ROOT} dies with is not known: {error}"
        found = hunt.outcome(spot, known)
        found = self._with_free(self._with_memory(found, part, replaced), part, replaced)
        return Killer(hunt.module(spot), found)

    def beginning(self, part: Part, replaced: Sequence[Part], cut: Cut) -> Outcome:
        """Return what replaying the run of `part` up to `cut` comes to, from the ledger if known."""
        step = f"beginning {part.path} {_without(replaced)}{cut}"
        self._ledger.say(f"replaying {part.path or 'the root'} up to {cut}")
        return self._ledger.outcome(step, lambda: self._survival(part, replaced, cut))

    def contents(self, part: Part, replaced: Sequence[Part], calls: tuple[int, ...]) -> Contents:
        """Return what the call at `calls` runs itself. Raises _CannotTellError."""
        at = ".".join(map(str, calls)) or "0"
        step = f"contents {part.path} {_without(replaced)}{at}"
        died = self._ledger.died(step)
        if died is not None:
            raise _CannotTellError(died.why)
        with self._ledger.timed(step):
            try:
                return self._contents(part, replaced, calls)
            except Exception as error:
                self._stop_if_lost()
                raise _CannotTellError(first_line(error)) from error

    def _contents(self, part: Part, replaced: Sequence[Part], calls: tuple[int, ...]) -> Contents:
        stand_ins = StandIns(replaced)
        runs = self._runs(part, stand_ins)
        with self._from_start(), self._backend.eagerly(), stand_ins.installed():
            given = [call.copied() for call in part.steps[0]]
            runs.begin(0, static=True)
            with contents_seen(part.run, calls, self._path, self._modules) as contents:
                runs.call(given[:1])
        return contents

    def _survival(self, part: Part, replaced: Sequence[Part], cut: Cut) -> Outcome:
        run: Any = cut_off(part.run, cut, self._modules)
        with self._from_start():
            return survival(
                replace(part, run=run),
                backend=self._backend,
                state=self._warm.instance.state,
                settings=replace(self._settings, warmup=1),
                prepare=self._warm.instance.prepare,
                replaced={one.path: one for one in replaced},
                inputs=self._warm.inputs.get(part.path),
                tally=self._tally,
                reach=self._ledger.reach,
            )

    def _with_memory(self, found: Outcome, part: Part, replaced: Sequence[Part]) -> Outcome:
        """Return what was found, with what its line is given other memory of than during capture."""
        step = f"memory {part.path} {_without(replaced)}".rstrip()
        if len(part.steps) == 1 or self._ledger.died(step) is not None:
            return found
        with self._ledger.timed(step):
            try:
                why = self._baked_in(part, replaced)
            except Exception:  # noqa: BLE001 - odd values may break what handles all others
                self._stop_if_lost()
                return found
        lines = {line_of(place) for place in found.places[:1]}
        here = tuple(one for one in why.frozen if line_of(one.place) in lines)
        return replace(found, evidence=replace(found.evidence, frozen=here, changes=why.changes))

    def _with_free(self, found: Outcome, part: Part, replaced: Sequence[Part]) -> Outcome:
        """Return what was found, with the line that frees what its line is given, if that is new."""
        step = f"freed {part.path} {_without(replaced)}".rstrip()
        frozen = found.evidence.frozen
        is_known = any(one.cause is not None for one in frozen)
        if is_known or not found.places or len(part.steps) == 1 or self._ledger.died(step):
            return found
        with self._ledger.timed(step):
            try:
                place = self._freed(part, replaced, line_of(found.places[0]))
            except Exception:  # noqa: BLE001 - what kills is known without it
                self._stop_if_lost()
                return found
        if place is None:
            return found
        words = f"memory that this line is given is freed between calls, at {place}"
        evidence = replace(
            found.evidence,
            frozen=tuple(replace(one, cause=sourced(place)) for one in frozen),
            changes=(*found.evidence.changes, words),
        )
        return replace(found, evidence=evidence)

    def _freed(self, part: Part, replaced: Sequence[Part], line: tuple[str, int]) -> Place | None:
        stand_ins = StandIns(replaced)
        runs = self._runs(part, stand_ins)
        with self._from_start(), stand_ins.installed():
            given = [call.copied() for call in part.steps[0]]
            runs.begin(0, static=True)
            return self._backend.freed(
                lambda: runs.call(given), lambda: runs.begin(1, static=True), line
            )

    def _runs(self, part: Part, stand_ins: StandIns) -> Runs:
        seed, prepare = self._settings.seed, self._warm.instance.prepare
        return Runs(part, self._backend, seed, prepare, stand_ins, self._tally)

    def _baked_in(self, part: Part, replaced: Sequence[Part]) -> Explanation:
        with self._from_start():
            return baked_in(
                part,
                backend=self._backend,
                state=self._warm.instance.state,
                settings=self._settings,
                prepare=self._warm.instance.prepare,
                replaced={one.path: one for one in replaced},
                tally=self._tally,
            )

    def _stop_if_lost(self) -> None:
        """Leave it to a fresh process to go on without this step, if this one cannot."""
        why = self._backend.spent()
        if why:
            raise SpentError(why)

    def _path(self, module: nn.Module) -> str:
        return self._paths.get(id(module), "")


class _Hunt:
    """The search in one part."""

    def __init__(self, killing: Killing, part: Part, replaced: Sequence[Part]) -> None:
        self._killing = killing
        self._part = part
        self._replaced = replaced
        self._seen: dict[tuple[int, ...], Contents] = {}

    def questions(self) -> Questions:
        return Questions(
            sizes=self._sizes,
            after=lambda calls: self._dies(Cut(calls)),
            before=lambda calls: self._dies(Cut(calls, is_before=True)),
            at_line=lambda calls, line: self._dies(Cut(calls, lines=line)),
            at_operation=lambda calls, line, number: self._dies(
                Cut(calls, lines=line, operations=number)
            ),
        )

    def module(self, spot: Spot) -> str:
        """Return the path of the module that runs at `spot`."""
        if not spot.calls:
            return self._part.path
        return self._contents(spot.calls[:-1]).calls[spot.calls[-1] - 1] or self._part.path

    def outcome(self, spot: Spot, known: Outcome) -> Outcome:
        """Return what is `known`, with the line and the operation at `spot`."""
        contents = self._contents(spot.calls)
        here = [one for one in contents.operations if one.line == spot.line]
        operation = here[spot.operation - 1] if spot.operation else None
        places = operation.places if operation else ()
        if not places and spot.line:
            places = (contents.lines[spot.line - 1],)
        return replace(
            known,
            places=tuple(sourced(place) for place in places) or known.places,
            certainty=Certainty.SHOWN if places else Certainty.MODULE_ONLY,
            operation=operation.name if operation else known.operation,
            evidence=replace(known.evidence, beginning=_in_words(places)),
        )

    def _sizes(self, calls: tuple[int, ...]) -> Sizes:
        contents = self._contents(calls)
        by_line = Counter(one.line for one in contents.operations)
        return Sizes(len(contents.calls), len(contents.lines), dict(by_line))

    def _contents(self, calls: tuple[int, ...]) -> Contents:
        if calls not in self._seen:
            self._seen[calls] = self._killing.contents(self._part, self._replaced, calls)
        return self._seen[calls]

    def _dies(self, cut: Cut) -> bool:
        found = self._killing.beginning(self._part, self._replaced, cut)
        if found.verdict is Verdict.UNDECIDED:
            raise _CannotTellError(found.why)
        return found.died


def _without(replaced: Sequence[Part]) -> str:
    return f"without {' '.join(sorted(one.path for one in replaced))} " if replaced else ""


def _in_words(places: Sequence[Place]) -> str:
    what = "this line" if places else "the end of this module"
    return f"replayed up to {what} it dies, up to what comes before it does not"
