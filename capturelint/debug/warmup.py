"""Eager calls before anything is judged: until state is stable, with gradients where they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NoReturn

from torch import Tensor

from capturelint.debug.attempts.attempt import Inputs, Tally
from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.attempts.refused import first_refused
from capturelint.debug.backend import Backend, CannotTellError
from capturelint.debug.backward import Backward
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError, raised
from capturelint.debug.instance import Current, Instance, modes_of, with_gradients
from capturelint.debug.preparing import changed_by_calls, note_on_again, prepare
from capturelint.debug.running import running
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import Change, Snapshot
from capturelint.debug.written import held_by, inputs_write_shared, note_on_written, rebound

_CALLS = 2
_MOST_CALLS = 10
# What torch says to a backward pass when gradients are off.
_WANTS_GRADIENTS = ("does not require grad", "require grad and does not have a grad_fn")


class CannotRunError(Exception):
    """The backend cannot run the case faithfully: it is undecided, not passed.

    `module`: the path of the one that it happened in, where that is known.
    """

    def __init__(self, why: str, module: str | None = None) -> None:
        super().__init__(f"it cannot be run faithfully: {why}")
        self.module = module


@dataclass(frozen=True, slots=True)
class Warm:
    """An instance after its warm-up calls.

    `inputs`: by callable, the tensors that they were made on, as a user warms up on static inputs.
    `calls`: how many. `fresh`: the state before them; `start`: the state after them. `changes`: of
    state, in the last.
    """

    instance: Instance
    inputs: Mapping[str, Inputs]
    calls: int
    fresh: Snapshot
    start: Snapshot
    changes: tuple[Change, ...]


def warmed_up(
    current: Current,
    load: Callable[[], Case],
    backend: Backend,
    settings: Settings,
    tally: Tally,
) -> Warm:
    """Return the current instance of a case after its warm-up calls.

    A case that runs a backward pass of its own is loaded anew, to run with gradients. Raises
    `CannotRunError`, or `CaseError` if the case does not run eagerly.
    """
    warm = _warmed(current, backend, settings, tally)
    note = ""
    if warm is None:
        note = "it runs a backward pass of its own, so gradients are on"
        load = with_gradients(load)
        current.renew(load, note=note)
        warm = _warmed(current, backend, settings, tally)
    if warm is not None and inputs_write_shared(warm.instance):
        del warm
        current.renew(load, note=note, is_sharing=False)
        warm = _warmed(current, backend, settings, tally)
    assert warm is not None, "it does not run without gradients any more"
    return warm


def _warmed(current: Current, backend: Backend, settings: Settings, tally: Tally) -> Warm | None:
    """Return the current instance after its warm-up calls, or None if it needs gradients."""
    try:
        return _warm_up(current.instance, backend, settings, tally)
    except Exception as error:  # noqa: BLE001 - user code may raise anything
        is_without = current.instance.case.mode == "no_grad"
        if not (isinstance(error, RuntimeError) and is_without and _wants_gradients(error)):
            _give_up(error)
    return None


def step_of(
    instance: Instance, name: str, step: int, backend: Backend, settings: Settings
) -> Callable[[], object]:
    """Return what runs the callable `name` for one step, eagerly, on a copy of its inputs.

    What comes before a step is done by then: the user's preparation, and seeding.
    """
    part = instance.parts[name]
    prepare(instance, step, backend, settings, is_again=True)
    (call,) = part.steps[step]
    own = call.copied()
    return lambda: own.of(part.run)


def _warm_up(instance: Instance, backend: Backend, settings: Settings, tally: Tally) -> Warm:
    inputs = {name: Inputs(part.steps[0]) for name, part in instance.parts.items()}
    fresh = before = instance.state.save()
    changes: tuple[Change, ...] = ()
    written: dict[str, None] = {}
    backward = Backward()
    for count in range(1, _MOST_CALLS + 1):
        with (
            instance.state.watching(),
            modes_of(instance.case, settings),
            backend.eagerly(),
            backend.warming_up(),
            backward.watching(_tensors(before, instance)),
        ):
            for name, part in instance.parts.items():
                tally.forwards += 1
                prepare(instance, 0, backend, settings, is_again=count > 1)
                for call in inputs[name].filled(part.steps[0]):
                    held = held_by(call)
                    backward.returned(_call(call, part, instance, backend))
                    written |= dict.fromkeys(rebound(part, call, held))
        after = instance.state.save()
        changes = instance.state.changes(before, after)
        before = after
        is_stable = all(one.kind != "created" for one in changes)
        if count >= (settings.warmup or _CALLS) and is_stable:
            break
    if backend.runs_compiled():
        _compile(instance, inputs, backend, settings, tally)
        before = instance.state.save()
    changes = changed_by_calls(changes, instance, before, backend, settings)
    again = note_on_again(instance, before, backend, settings)
    notes = (*map(note_on_written, written), *backward.notes, *again)
    instance = replace(instance, notes=(*instance.notes, *notes))
    return Warm(instance, inputs, count, fresh, before, changes)


def _compile(
    instance: Instance,
    inputs: Mapping[str, Inputs],
    backend: Backend,
    settings: Settings,
    tally: Tally,
) -> None:
    """Call what is compiled until it is, and tuned: while it is watched it runs eagerly."""
    with modes_of(instance.case, settings), backend.warming_up():
        for _ in range(_CALLS):
            for name, part in instance.parts.items():
                tally.forwards += 1
                prepare(instance, 0, backend, settings, is_again=True)
                for call in inputs[name].filled(part.steps[0]):
                    _call(call, part, instance, backend)


def _tensors(before: Snapshot, instance: Instance) -> list[Tensor]:
    """Return the tensors that a backward may reach: all that the calls hold, if gradients are on."""
    return before.watched.tensors if instance.case.mode == "train" else []


def _call(call: Call, part: Part, instance: Instance, backend: Backend) -> object:
    """Return what one call returns. Raises CannotRunError where the backend could not run it faithfully."""
    with running(instance.case.named, part.path) as now:
        try:
            result = call.of(part.run)
        except Exception as error:
            unsupported = backend.unsupported()
            if isinstance(error, CannotTellError) or unsupported:
                reasons = "; ".join(unsupported) or str(error)
                raise CannotRunError(reasons, now.raised_in) from error
            raise
    unsupported = backend.unsupported()
    if unsupported:  # the code went on, some other way
        raise CannotRunError("; ".join(unsupported))
    return result


def _give_up(error: Exception) -> NoReturn:
    """Raise what to say when user code raised `error` in an eager call."""
    if isinstance(error, CannotRunError | CaseError):
        raise error
    if isinstance(error, CannotTellError):
        raise CannotRunError(str(error)) from error
    raise raised("the case, called eagerly,", first_refused(error)) from error


def wants_gradients(text: str) -> bool:
    """Return whether this is what torch says to a backward pass when gradients are off."""
    return any(words in text for words in _WANTS_GRADIENTS)


def _wants_gradients(error: BaseException | None) -> bool:
    while error is not None:
        if wants_gradients(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False
