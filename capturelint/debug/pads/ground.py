"""Run calls of a part eagerly, each from the state after the warm-up, and see what they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import TypeVar

import torch
from torch import Tensor

from capturelint.debug.attempts.attempt import Tally
from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.attempts.refused import cannot_tell, first_line
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.attempts.runs import Runs
from capturelint.debug.attempts.seen import Seen
from capturelint.debug.backend import Backend
from capturelint.debug.modules import Modules
from capturelint.debug.pads.left import RESULT, STATE, Left, left_by
from capturelint.debug.pads.slots import last_wins
from capturelint.debug.settings import Settings
from capturelint.debug.trees.memory import storage_key
from capturelint.debug.trees.trees import leaves
from capturelint.debug.warmup import Warm

_Context = TypeVar("_Context")


class CannotRunPadsError(Exception):
    """Calls with pad rows raise, or cannot be run faithfully. The message says why."""


class Ground:
    """Runs parts of a warm case. `modules`: puts the state back before and after each run."""

    def __init__(
        self, warm: Warm, modules: Modules, backend: Backend, settings: Settings, tally: Tally
    ) -> None:
        self.instance = warm.instance
        self.settings = settings
        self.backend = backend
        self._fresh = warm.fresh
        self._held = warm.instance.state.held(warm.start)
        self._from_start = modules.from_start
        self._tally = tally

    def left(
        self,
        part: Part,
        calls: Sequence[Call],
        stand_ins: StandIns | None = None,
        *,
        is_fresh: bool = False,
    ) -> Left:
        """Return what one step of these calls leaves. Raises CannotRunPadsError.

        `is_fresh`: from the state before the warm-up, which shows also what that wrote already.
        """
        runs = self._runs(part, calls, stand_ins or StandIns(()))
        with self._running():
            if is_fresh:
                self.instance.state.restore(self._fresh)
            with runs.stand_ins.installed():
                seen: Seen = next(runs.seen(1))
            if runs.stand_ins.unfit:
                raise CannotRunPadsError(runs.stand_ins.unfit)
            return left_by(seen)

    def before(self, part: Part, calls: Sequence[Call], names: Iterable[str]) -> Left:
        """Return what arguments and state hold before the warm-up, of those places `names`."""
        runs = self._runs(part, calls, StandIns(()))
        with self._from_start():
            self.instance.state.restore(self._fresh)
            arguments = {
                f"argument {leaf.path}": leaf.value for leaf in leaves(runs.arguments(calls))
            }
            state = {
                f"{STATE}{name}": one.detach() for name, one in runs.observed.tensors().items()
            }
            held = {**arguments, **state}
            return Left({name: one for name, one in held.items() if name in names})

    def after(self, part: Part, calls: Sequence[Call], state: Mapping[str, Tensor]) -> Left:
        """Return the results of a second step of these calls. Raises CannotRunPadsError.

        `state`: by name, what tensors of the state are made to hold before it.
        """
        runs = self._runs(part, calls, StandIns(()))
        with self._running():
            runs.begin(0, static=False)
            runs.call([call.copied() for call in calls])
            held = runs.observed.tensors()
            with torch.inference_mode():  # tensors made in it can only be written in it
                for name, value in state.items():
                    if name in held and held[name].shape == value.shape:
                        held[name].copy_(value)
            left = left_by(next(runs.seen(1)))
            return Left({path: one for path, one in left.items() if path.startswith(RESULT)})

    def during(
        self,
        part: Part,
        calls: Sequence[Call],
        context: AbstractContextManager[_Context],
        stand_ins: StandIns | None = None,
    ) -> _Context:
        """Run one step of these calls inside `context`. Raises CannotRunPadsError."""
        runs = self._runs(part, calls, stand_ins or StandIns(()))
        with self._running(), runs.stand_ins.installed():
            own = [call.copied() for call in calls]
            runs.begin(0, static=False)
            with context as value:
                runs.call(own)
            return value

    def storages(self, part: Part) -> dict[str, int | None]:
        """Return what tells the storage of each tensor of the state, by its name."""
        observed = self._runs(part, (), StandIns(())).observed
        return {name: storage_key(tensor) for name, tensor in observed.tensors().items()}

    def stepping(self, part: Part, steps: Sequence[Sequence[Call]]) -> Callable[[int], object]:
        """Return what runs the calls of one of `steps`, each from the same state and seed."""

        def run(step: int) -> None:
            runs = self._runs(part, steps[step], StandIns(()))
            with self._running():
                runs.begin(0, static=False)
                runs.call([call.copied() for call in steps[step]])

        return run

    def _runs(self, part: Part, calls: Sequence[Call], stand_ins: StandIns) -> Runs:
        one = replace(part, steps=(tuple(calls),), results=(), numbers=(part.number(0),))
        settings, instance = self.settings, self.instance
        return Runs(
            one, self.backend, settings.seed, instance.prepare, stand_ins, self._tally, self._held
        )

    @contextmanager
    def _running(self) -> Iterator[None]:
        """Run what is inside eagerly, from the start. Raises CannotRunPadsError if it fails."""
        self.backend.unsupported()  # what others met is theirs
        try:
            with self._from_start(), self.backend.eagerly(), last_wins():
                yield
        except CannotRunPadsError:
            raise
        except Exception as error:
            reasons = "; ".join(self.backend.unsupported()) or cannot_tell(error)
            raise CannotRunPadsError(reasons or f"raises {first_line(error)}") from error
        unsupported = self.backend.unsupported()
        if unsupported:
            raise CannotRunPadsError("; ".join(unsupported))
