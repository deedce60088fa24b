"""The line that lets pad rows into real rows: in the module to blame, or where it is called."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from capturelint.debug.attempts.replaced import StandInError, StandIns
from capturelint.debug.frames import sourced
from capturelint.debug.outcome import Outcome
from capturelint.debug.pads.apart import clean_stand_ins
from capturelint.debug.pads.families import Calls, Family
from capturelint.debug.pads.following import Following, Operation, TooMuchError
from capturelint.debug.pads.ground import CannotRunPadsError, Ground
from capturelint.debug.pads.judge import PadJudge
from capturelint.debug.pads.left import STATE
from capturelint.debug.pads.mixing import Leak, first_leak
from capturelint.debug.pads.outcomes import failing_in
from capturelint.debug.pads.statuses import Runs
from capturelint.debug.paths import is_below
from capturelint.debug.running import running
from capturelint.verdict import Certainty, Verdict

_MIB = 1 << 20


def leaking_line(path: str, judge: PadJudge, ground: Ground) -> Outcome:
    """Return the line of the module at `path` that is to blame, as an outcome; without it if untold.

    Its verdict is EQUAL where its lines only put rows into another order, around what a module
    inside makes of them: whether they are put back cannot be told while that one fails.
    """
    unknown = Outcome(Verdict.PADS, certainty=Certainty.MODULE_ONLY)
    family = judge.families.get(path)
    if family is None or family.why:
        return unknown
    try:
        found = _leak(family, judge, ground)
        if found is None:
            return unknown
        if found.is_order and failing_in(judge.outcomes, judge.called(path)):
            return Outcome(Verdict.EQUAL)
        operation = found.operation
        if operation is None:
            return unknown
        if operation.place.line:
            places = (sourced(operation.place),)
            certainty = Certainty.SHOWN if found.is_seen else Certainty.LIKELY
            return Outcome(Verdict.PADS, places, certainty, operation.name)
        # A module of torch runs no line of the user's: its caller does.
        called = _calling(path, judge, ground)
    except (CannotRunPadsError, StandInError, TooMuchError):
        return unknown
    if len({(one.place.path, one.place.line) for one in called}) != 1 or not called[0].place.line:
        return replace(unknown, operation=operation.name)
    return Outcome(Verdict.PADS, (sourced(called[0].place),), Certainty.LIKELY, operation.name)


def _leak(family: Family, judge: PadJudge, ground: Ground) -> Leak | None:
    path = family.part.path
    called = judge.called(path)
    failing = {one: judge.families[one] for one in failing_in(judge.outcomes, called)}
    base = _operations(family, family.base, ground, failing, is_filled=False)
    filled = _operations(family, family.filled, ground, failing, is_filled=True)
    shorter = None
    if family.others and not failing:
        shorter = _operations(family, family.others[0], ground, {}, is_filled=False)
    storages = ground.storages(family.part)
    held = frozenset(storages.values())
    runs = Runs(base, filled, shorter, family.rows, family.total, held)
    output = judge.outcomes[path].evidence.output
    is_state = output.startswith(STATE)
    state = storages.get(output.removeprefix(STATE)) if is_state else None
    return first_leak(runs, judge.references.tolerance, state)


def _calling(path: str, judge: PadJudge, ground: Ground) -> Sequence[Operation]:
    """Return the operations of a module as its caller makes it run: their places are the caller's."""
    above = judge.families.get(judge.parents.get(path, path))
    if above is None or above.part.path == path:
        return ()
    operations = _operations(above, above.base, ground, {}, is_filled=False)
    return [one for one in operations if is_below(one.module, path)]


def _operations(
    family: Family, calls: Calls, ground: Ground, failing: dict[str, Family], *, is_filled: bool
) -> Sequence[Operation]:
    stand_ins = StandIns(clean_stand_ins(failing, is_filled=is_filled)) if failing else None
    following = _following(family.part.path, ground)
    return ground.during(family.part, calls, following, stand_ins).operations


@contextmanager
def _following(path: str, ground: Ground) -> Iterator[Following]:
    with ExitStack() as stack:
        now = stack.enter_context(running(ground.instance.case.named, path))
        mode = Following(now.current, ground.settings.record_limit * _MIB)
        yield stack.enter_context(mode)
