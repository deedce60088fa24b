"""The operations of one run, written down in order with what they made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from capturelint.debug.frames import is_called_from, users_frames
from capturelint.debug.pads.arranged import has_same_bytes
from capturelint.debug.trees import copies
from capturelint.debug.trees.memory import storage_key
from capturelint.debug.trees.trees import leaves
from capturelint.verdict import Place

# Stand-ins copy what they answer: that is no work of the part.
_COPIES = str(Path(copies.__file__).parent)
_NOWHERE = Place("", 0)


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of torch. `made`: what it returned or wrote, copied. `given`: shapes of its tensors.

    `sources`: numbers of the operations that made those. `written`: the storage it wrote in place.
    `moved`: by the place in `made`, tensors that it may have put into another order, copied.
    """

    name: str
    place: Place
    module: str
    made: tuple[Tensor, ...]
    given: tuple[tuple[int, ...], ...]
    sources: tuple[int, ...]
    written: int | None = None
    moved: tuple[tuple[int, Tensor], ...] = ()


class TooMuchError(Exception):
    """The operations of a run make more than may be kept."""


class Following(TorchFunctionMode):
    """Writes down each call of torch. `module`: tells which module runs. `limit`: bytes to keep."""

    def __init__(self, module: Callable[[], str], limit: int) -> None:
        super().__init__()
        self.operations: list[Operation] = []
        self._module = module
        self._left = limit
        self._alive: list[Tensor] = []  # an id must not come again
        self._makers: dict[int, int] = {}

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = dict(kwargs or {})
        given = list(_tensors((args, kwargs)))
        shapes = tuple(tuple(one.shape) for one in given)
        sources = tuple(self._makers[id(one)] for one in given if id(one) in self._makers)
        result = func(*args, **kwargs)
        name = _name_of(func)
        target = _target(name, args, kwargs)
        made = [target] if target is not None else list(_tensors(result))
        if made and not is_called_from(_COPIES):
            moved = tuple(_moved(made, given))
            self._left -= sum(one.numel() * one.element_size() for _, one in moved)
            self._keep(name, made, shapes, sources, target, moved)
        return result

    def _keep(
        self,
        name: str,
        made: Sequence[Tensor],
        shapes: tuple[tuple[int, ...], ...],
        sources: tuple[int, ...],
        target: Tensor | None,
        moved: tuple[tuple[int, Tensor], ...],
    ) -> None:
        self._left -= sum(one.numel() * one.element_size() for one in made)
        if self._left < 0:
            raise TooMuchError
        number = len(self.operations)
        for one in made:
            self._makers[id(one)] = number
            self._alive.append(one)
        place = next(iter(users_frames(limit=1)), _NOWHERE)
        with torch.no_grad():
            copies = tuple(one.detach().clone() for one in made)
        written = None if target is None else storage_key(target)
        self.operations.append(
            Operation(name, place, self._module(), copies, shapes, sources, written, moved)
        )


def _moved(made: Sequence[Tensor], given: Sequence[Tensor]) -> Iterator[tuple[int, Tensor]]:
    """Yield tensors that an operation was given and whose elements it may only have moved."""
    for index, one in enumerate(made):
        for other in given:
            if other is not one and one.layout == other.layout == torch.strided:
                with torch.no_grad():
                    if has_same_bytes(one, other):
                        yield index, other.detach().clone()


def _tensors(tree: object) -> Iterator[Tensor]:
    return (leaf.value for leaf in leaves(tree) if isinstance(leaf.value, Tensor))


def _name_of(func: Any) -> str:
    name = str(getattr(func, "__name__", func))
    owner = getattr(func, "__self__", None)
    return str(getattr(owner, "__name__", name)) if name in ("__get__", "__set__") else name


def _target(name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Tensor | None:
    """Return the tensor that a call wrote in place, if it did."""
    out = kwargs.get("out")
    if isinstance(out, Tensor):
        return out
    is_writing = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
    is_augmented = name.startswith("__i") and name.endswith("__") and name != "__invert__"
    if (is_writing or is_augmented) and args and isinstance(args[0], Tensor):
        return args[0]
    return None
