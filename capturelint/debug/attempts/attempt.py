"""Judge one part alone: warm up, capture, replay on fresh inputs, compare each replay with eager."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from capturelint.debug.attempts.died import DiedError, unless_lost
from capturelint.debug.attempts.explanation import Explanation
from capturelint.debug.attempts.frozen import Explainer
from capturelint.debug.attempts.judging import Judge
from capturelint.debug.attempts.part import Part, variation
from capturelint.debug.attempts.replaced import StandInError, StandIns
from capturelint.debug.attempts.runs import Inputs, Runs, Tally
from capturelint.debug.attempts.side import Side
from capturelint.debug.attempts.stages import Stages, UndecidedError
from capturelint.debug.attempts.surviving import Survivor
from capturelint.debug.backend import Backend
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import Snapshot, State
from capturelint.verdict import Hazard, Verdict

__all__ = ["Inputs", "Tally", "attempt"]


def attempt(
    part: Part,
    *,
    backend: Backend,
    state: State,
    settings: Settings,
    prepare: Callable[[int], object] | None = None,
    replaced: Mapping[str, Part] | None = None,
    reference: Part | None = None,
    prepare_reference: Callable[[int], object] | None = None,
    inputs: Inputs | None = None,
    fresh: Snapshot | None = None,
    outside: Sequence[Hazard] = (),
    tally: Tally | None = None,
    reach: Callable[[str], object] = lambda _: None,
) -> Outcome:
    """Return what capturing `part` shows. Leaves state, modes and generators as they were.

    `state`: of all that the part can change. `prepare`: runs before each step, outside of what is
    captured. `replaced`: called modules by path whose recorded results are returned in their place,
    which leaves the part's own lines. `reference`: the same part of another instance, to be run
    eagerly; with `settings.warmup` 0, `part` is then never called before its capture.
    `prepare_reference`: runs before each of its steps, in place of `prepare`. `inputs`: the
    static inputs, where they were used before; `fresh`: the state before that. `outside`: work of the
    part that a run as if capturing saw outside the capture. `tally`: counts. `reach`: is told before
    each capture and each replay, in case the process does not survive it.

    A part that passes costs 3 warm-ups, a capture, and an eager run and a replay of each step.
    """
    varies = variation(part.steps, part.run) if part.varies is None else part.varies
    if varies:
        return _undecided(varies)
    try:
        stand_ins = StandIns(tuple((replaced or {}).values()))
    except StandInError as error:
        return _undecided(str(error))

    def runs_of(one: Part, before: Callable[[int], object] | None) -> Runs:
        return Runs(one, backend, settings.seed, before, stand_ins, tally or Tally())

    captured = eager = Side(runs_of(part, prepare), state)
    if reference is not None:
        runs = runs_of(reference, prepare_reference)
        eager = Side(runs, State({reference.path: reference.run, **reference.shared}))
    inputs = inputs or Inputs(part.steps[0])
    fresh = fresh or state.save()
    judge = Judge(captured, eager, backend, settings, inputs, fresh, outside, reach=reach)
    return _outcome(judge, stand_ins, backend, state)


def survival(
    part: Part,
    *,
    backend: Backend,
    state: State,
    settings: Settings,
    prepare: Callable[[int], object] | None,
    replaced: Mapping[str, Part],
    inputs: Inputs | None,
    tally: Tally,
    reach: Callable[[str], object],
) -> Outcome:
    """Return `EQUAL` if the device survives capturing and replaying `part`, whatever that computes.

    Arguments as of `attempt`.
    """
    stand_ins = StandIns(tuple(replaced.values()))
    side = Side(Runs(part, backend, settings.seed, prepare, stand_ins, tally), state)
    inputs = inputs or Inputs(part.steps[0])
    judge = Survivor(side, side, backend, settings, inputs, state.save(), reach=reach)
    return _outcome(judge, stand_ins, backend, state)


def baked_in(
    part: Part,
    *,
    backend: Backend,
    state: State,
    settings: Settings,
    prepare: Callable[[int], object] | None,
    replaced: Mapping[str, Part],
    tally: Tally,
) -> Explanation:
    """Return what a graph of the first step keeps that the second has otherwise, by eager runs.

    Arguments as of `attempt`.
    """
    stand_ins = StandIns(tuple(replaced.values()))
    side = Side(Runs(part, backend, settings.seed, prepare, stand_ins, tally), state)
    before = state.save()
    try:
        with stand_ins.installed(), Stages(backend, stand_ins).eager():
            return Explainer(side.runs, state, side.start()).explanation(1, None)
    except UndecidedError:  # what kills is known without it
        return Explanation()
    finally:
        state.restore(before)


def _outcome(judge: Judge, stand_ins: StandIns, backend: Backend, state: State) -> Outcome:
    """Return what `judge` comes to, on the state that is put back afterwards."""
    before = state.save()
    try:
        with stand_ins.installed():
            return judge.outcome()
    except UndecidedError as error:
        return _undecided(str(error))
    except DiedError as error:
        return error.outcome
    finally:
        with unless_lost(backend):
            judge.close()
            state.restore(before)


def _undecided(why: str) -> Outcome:
    return Outcome(Verdict.UNDECIDED, why=why)
