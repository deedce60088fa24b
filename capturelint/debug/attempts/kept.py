"""What is kept of steps: made anew each time it is looked at, so that it need not fill the device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar, overload

from capturelint.debug.attempts.modes import Modes
from capturelint.debug.attempts.part import Call
from capturelint.debug.trees.parked import Parked

_Item = TypeVar("_Item")


class Kept(Sequence[tuple[_Item, ...]], Generic[_Item]):
    """Steps, each of items that are made when it is looked at, such as calls or results."""

    def __init__(self, steps: Iterable[Sequence[Callable[[], _Item]]]) -> None:
        self._steps = tuple(steps)

    def __len__(self) -> int:
        return len(self._steps)

    @overload
    def __getitem__(self, index: int) -> tuple[_Item, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> Kept[_Item]: ...

    def __getitem__(self, index: int | slice) -> tuple[_Item, ...] | Kept[_Item]:
        if isinstance(index, slice):
            return Kept(self._steps[index])
        return tuple(make() for make in self._steps[index])


def kept_call(call: Call) -> Callable[[], Call]:
    """Return what makes `call` again. What it receives is copied, and lies on the host until then."""
    parked = Parked((call.args, dict(call.kwargs)), shared=call.shared)
    return partial(made, parked, call.modes, call.shared)


def made(
    parked: Parked[tuple[tuple[Any, ...], dict[str, Any]]],
    modes: Modes | None,
    shared: tuple[object, ...],
) -> Call:
    """Return the call that receives what is parked."""
    args, kwargs = parked.back()
    return Call(args, kwargs, modes, shared)
