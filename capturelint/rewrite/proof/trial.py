"""Old and new code of a function on the same inputs: whether anything tells them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import torch
from torch import Tensor, nn

from capturelint.debug.attempts.attempt import Tally
from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.attempts.runs import Runs
from capturelint.debug.attempts.seen import Noise, Seen
from capturelint.debug.backend import Backend, SpentError
from capturelint.debug.instance import Instance
from capturelint.debug.modules import Modules
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import Change
from capturelint.debug.trees.parked import shown
from capturelint.debug.trees.trees import leaves
from capturelint.rewrite.proof.choosing import UnlikeError
from capturelint.rewrite.proof.gradients import Gradients, gradients_of
from capturelint.rewrite.proof.mutants import is_bounded, may_overflow
from capturelint.rewrite.proof.wide import widened, widened_calls

_STEPS = 2  # of which inputs are changed; each in some forty ways


class Held(NamedTuple):
    """What a part holds otherwise: a number in all floating buffers, or weights times a factor."""

    buffers: float | None = None
    weights: float = 1.0


class Input(NamedTuple):
    """What a part receives in one step. `held`: what it holds otherwise meanwhile.

    `leads_apart`: it leads where no finite input leads in the state as it is. `leads_first`: it is the
    first to lead where it does, or as recorded; what the code does to objects is compared for these.
    """

    name: str  # what was done to it
    calls: tuple[Call, ...]
    held: Held | None = None
    leads_apart: bool = False
    leads_first: bool = False

    @property
    def has_slopes(self) -> bool:
        """Whether gradients are compared: for finite numbers in buffers as they are, and where only others lead."""
        is_filled = self.held is not None and self.held.buffers is not None
        return self.leads_apart or (not is_filled and is_bounded(self.name))

    @property
    def may_overflow(self) -> bool:
        """Whether gradients may pass the largest number."""
        return may_overflow(self.name) or (self.held is not None and abs(self.held.weights) > 1)


Inputs: TypeAlias = list[Input]


@dataclass(frozen=True, slots=True)
class Came:
    """What one run came to: what it left, or the type of what it raised, and what that said."""

    seen: Seen | None
    raised: str = ""
    said: str = ""


@dataclass(slots=True)
class Bench:
    """Runs one part on many inputs, each time from the same state. `tell`: is called before each.

    `is_wide`: what is float32 runs in float64.
    """

    part: Part
    instance: Instance
    modules: Modules
    backend: Backend
    settings: Settings
    tell: Callable[[], None]
    is_wide: bool = False

    def came(self, calls: tuple[Call, ...], held: Held | None = None) -> Came:
        """Run the calls of one step eagerly, with what the part holds otherwise, if anything."""
        return self._ran(calls, held)

    def changes(self, calls: tuple[Call, ...], held: Held | None = None) -> tuple[Change, ...]:
        """Return what a run changes outside of the memory of the device, such as attributes."""
        found: list[Change] = []
        self._ran(calls, held, found)
        return tuple(found)

    def _ran(
        self, calls: tuple[Call, ...], held: Held | None, changes: list[Change] | None = None
    ) -> Came:
        """Run as `came` does. `changes`: gains what changed, which takes a walk over all objects."""
        self.tell()
        calls = widened_calls(calls) if self.is_wide else calls
        part = replace(self.part, steps=(calls,), numbers=(0,))
        runs = Runs(
            part, self.backend, self.settings.seed, self.instance.prepare, StandIns(()), Tally()
        )
        own = runs.own_calls(0)  # here, as making them is no work of the code
        state = self.instance.state
        with self._from_start(), state.watching(), self._holding(held):
            before = None if changes is None else state.save()
            try:
                came = Came(runs.one(0, set(), own))
            except Exception as error:  # noqa: BLE001 - user code may raise anything
                self._check_device()
                said = (str(error).splitlines() or [""])[0]
                came = Came(None, type(error).__name__, said)
            if changes is not None and before is not None:
                changes += state.changes(before, state.save())
        return came

    def gradients(self, calls: tuple[Call, ...], held: Held | None = None) -> Gradients | str:
        """Return the gradients of one step, or the type of what was raised on the way to them.

        `held`: as `came` has it.
        """
        self.tell()
        # An object among the arguments, such as a cache, may be written too: also one that all
        # steps share, which would keep the graph of this run for the next.
        apart = [replace(call, shared=()) for call in calls]
        own = widened_calls(tuple(apart)) if self.is_wide else [call.copied() for call in apart]
        with self._from_start(), self.instance.state.watching(), torch.enable_grad():
            if self.instance.prepare is not None:
                self.instance.prepare(0)
            self.backend.seed(self.settings.seed)
            try:
                with self._holding(held):
                    return gradients_of(self.part.run, own)
            except Exception as error:  # noqa: BLE001 - user code may raise anything
                self._check_device()
                return type(error).__name__

    @contextmanager
    def _from_start(self) -> Iterator[None]:
        with self.modules.from_start(), widened(self.part.run) if self.is_wide else nullcontext():
            yield

    @property
    def has_buffers(self) -> bool:
        """Whether the part has floating buffers."""
        return bool(self._buffers())

    @property
    def has_weights(self) -> bool:
        """Whether the part has floating parameters."""
        return bool(self._weights())

    def _buffers(self) -> list[Tensor]:
        buffers = self.part.run.buffers() if isinstance(self.part.run, nn.Module) else ()
        return [one for one in buffers if one.is_floating_point()]

    def _weights(self) -> list[Tensor]:
        weights = self.part.run.parameters() if isinstance(self.part.run, nn.Module) else ()
        return [one for one in weights if one.is_floating_point()]

    @contextmanager
    def _holding(self, held: Held | None) -> Iterator[None]:
        """Let the part hold something else inside, and what it held again after."""
        buffers = [] if held is None or held.buffers is None else self._buffers()
        weights = [] if held is None or held.weights == 1 else self._weights()
        with torch.no_grad():
            before = [one.clone() for one in (*buffers, *weights)]
            for one in buffers:
                one.fill_(held.buffers if held and held.buffers else 0.0)
            for one in weights:
                one.mul_(held.weights if held else 1.0)
        try:
            yield
        finally:
            with torch.no_grad():
                for one, old in zip((*buffers, *weights), before, strict=True):
                    one.copy_(old)

    def _check_device(self) -> None:
        """Raise if the device is lost: from then on everything raises, the old code and the new."""
        why = self.backend.spent()
        if why:
            raise SpentError(why)

    @property
    def tolerance(self) -> Tolerance:
        """How far numbers may be apart."""
        return Tolerance(self.settings.rtol, self.settings.atol)

    def difference(
        self,
        old: Came,
        new: Came,
        *,
        is_same: bool = False,
        with_layout: bool = True,
        tolerance: Tolerance | None = None,
        noise: Noise | None = None,
    ) -> str:
        """Return in words what tells two runs apart, "" if nothing does.

        `is_same`: all numbers are known to be the same bit for bit. `with_layout`: strides count too.
        `tolerance`: None for what the settings say. `noise`: is added to it.
        """
        if old.seen is None or new.seen is None:
            if old.raised == new.raised:
                return ""
            return f"the old code {_ended(old)}, the new code {_ended(new)}"
        bound = self.tolerance if tolerance is None else tolerance
        found = None if is_same else old.seen.difference(new.seen, bound, noise or {})
        if found is not None:
            return f"{found.path} is {found.got} and was {found.expected}"
        if old.seen.arguments.keys() != new.seen.arguments.keys():
            return "other arguments are written"
        if old.seen.state.keys() != new.seen.state.keys():
            return "other state is written"
        results = leaves(shown(old.seen.result)), leaves(shown(new.seen.result))
        for one, other in zip(*results, strict=True):
            if with_layout and _layout(one.value) != _layout(other.value):
                return f"result{one.path} has another memory layout"
        return ""


def is_exact(old: Came, new: Came) -> bool:
    """Return whether two runs came to the same bit for bit."""
    if old.seen is None or new.seen is None:
        return True
    return old.seen.difference(new.seen, Tolerance(0.0, 0.0), {}) is None


def shares_less(old: Came, new: Came) -> bool:
    """Return whether a result lay in the memory of an input or buffer, and no longer does."""
    if old.seen is None or new.seen is None:
        return False
    return bool(set(old.seen.aliases) - set(new.seen.aliases))


def _layout(value: object) -> tuple[int, ...]:
    return value.stride() if isinstance(value, Tensor) and value.layout is torch.strided else ()


def _ended(came: Came) -> str:
    if came.raised == UnlikeError.__name__:
        return came.said
    return f"raises {came.raised}: {came.said}" if came.raised else "returns"
