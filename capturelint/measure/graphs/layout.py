"""Which dimension of each argument grows with the batch, told by the examples of several sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor

from capturelint.debug.trees.descriptions import described
from capturelint.measure.graphs.form import Form
from capturelint.measure.graphs.mistakes import RunnerError

Dims: TypeAlias = "int | Mapping[str, int | None] | None"
_UNTOLD = -2  # rows of a tensor that is always of the same shape


@dataclass(frozen=True, slots=True)
class Slot:
    """One leaf of the arguments.

    `shape`: of a tensor, None for another value. `dim`: which dimension holds the rows, None where
    the shape is always the same; each row has `unit` elements of it. `is_held`: the very tensor
    that was captured is given at each call; it is not copied, and its size is its own matter.
    """

    name: str
    shape: tuple[int, ...] | None = None
    dtype: torch.dtype | None = None
    device: torch.device | None = None
    dim: int | None = None
    unit: int = 1
    is_held: bool = False
    # Of the shape, what lies before and after the rows: each step asks for it.
    before: tuple[int, ...] = field(init=False, default=())
    after: tuple[int, ...] = field(init=False, default=())
    # The rows of what was found to fit: to look at a tensor anew takes microseconds of each step.
    _fitting: dict[tuple[object, ...], int] = field(
        init=False, default_factory=dict, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.shape is not None and self.dim is not None:
            object.__setattr__(self, "before", self.shape[: self.dim])
            object.__setattr__(self, "after", self.shape[self.dim + 1 :])

    def rows(self, value: object, rows: int) -> int:
        """Return how many rows a value has, `rows` where it does not tell.

        Raises `RunnerError` if it is not as it was captured, or if `rows`, unless -1, are others.
        """
        if self.shape is None or self.is_held:
            return rows
        if not isinstance(value, Tensor):
            raise self._error(described(value))
        seen = (value.shape, value.dtype, value.device)
        found = self._fitting.get(seen)
        if found is None:
            found = self._fitting[seen] = self._rows_of(value)
        if found == _UNTOLD:
            return rows
        if rows not in (found, -1):
            raise self._error(f"of {found} rows where others have {rows}")
        return found

    def _rows_of(self, value: Tensor) -> int:
        if value.dtype is not self.dtype:
            raise self._error(f"{_short(value.dtype)} instead of {_short(self.dtype)}")
        if value.device != self.device:
            raise self._error(f"on {value.device} instead of {self.device}")
        if value.layout is not torch.strided or value.is_nested:
            raise self._error("of a layout that has no rows to copy")
        shape, dim = value.shape, self.dim
        if dim is None:
            if shape != self.shape:
                raise self._error(f"{tuple(shape)} instead of {self.shape}")
            return _UNTOLD
        assert self.shape is not None
        is_like = len(shape) == len(self.shape) and shape[:dim] == self.before
        if not is_like or shape[dim + 1 :] != self.after or shape[dim] % self.unit:
            told = f"{tuple(shape)} instead of {_with_rows(self.shape, dim, self.unit)}"
            raise self._error(told)
        return shape[dim] // self.unit

    def _error(self, problem: str) -> RunnerError:
        return RunnerError(
            f"`{self.name}` is {problem}; a graph takes only what it was captured with"
        )


def slots_of(
    form: Form, examples: Mapping[int, Sequence[object]], held: set[int], dims: Dims
) -> tuple[Slot, ...]:
    """Return the slots of a callable's arguments. `examples`: leaves by size, of two sizes or more.

    `held`: ids of tensors that are the same in each step. `dims`: what `Case.batch_dims` says.
    Raises `RunnerError` if sizes differ in more than rows.
    """
    slots = []
    for index, name in enumerate(form.leaves):
        values = {size: leaves[index] for size, leaves in examples.items()}
        slots.append(_slot(name, values, held, _declared(form.callable, name, dims)))
    if all(slot.dim is None for slot in slots):
        raise RunnerError(
            f"no argument of {form.callable} grows with the batch; `inputs` must make as many rows as"
            " `batch_size` says"
        )
    return tuple(slots)


def _slot(
    name: str, values: Mapping[int, object], held: set[int], declared: _Declared | None
) -> Slot:
    tensors = {size: value for size, value in values.items() if isinstance(value, Tensor)}
    if not tensors:
        return Slot(name)
    if len(tensors) < len(values):
        raise RunnerError(f"`{name}` is a tensor at some sizes only")
    largest = max(tensors)
    first = tensors[largest]
    if all(id(value) in held for value in tensors.values()):
        return Slot(name, tuple(first.shape), first.dtype, first.device, is_held=True)
    if first.layout is not torch.strided:
        raise RunnerError(f"`{name}` is {described(first)}; only dense tensors have static buffers")
    shapes = {size: tuple(value.shape) for size, value in tensors.items()}
    grown = growth(f"`{name}`", shapes)
    if len(grown) > 1:
        raise RunnerError(f"`{name}` grows in more than one dimension: {_listed(shapes)}")
    dim, unit = next(iter(grown.items()), (None, 1))
    _check_declared(name, declared, dim, shapes)
    return Slot(name, shapes[largest], first.dtype, first.device, dim, unit)


def growth(what: str, shapes: Mapping[int, tuple[int, ...]]) -> dict[int, int]:
    """Return the dimensions that hold rows, with the elements of each row, from shapes by size.

    Raises `RunnerError` where a shape changes otherwise than with the rows.
    """
    if len({len(shape) for shape in shapes.values()}) > 1:
        raise RunnerError(f"{what} has other dimensions at other sizes: {_listed(shapes)}")
    found: dict[int, int] = {}
    for dim in range(len(next(iter(shapes.values())))):
        extents = {size: shape[dim] for size, shape in shapes.items()}
        if len(set(extents.values())) == 1:
            continue
        units = {extent / size for size, extent in extents.items()}
        unit = units.pop()
        if units or not unit.is_integer():
            raise RunnerError(f"{what} does not grow row by row: {_listed(shapes)}")
        found[dim] = int(unit)
    return found


def check_names(forms: Sequence[Form], dims: Dims) -> None:
    """Raise `RunnerError` if `batch_dims` names an argument that no callable has."""
    for key in dims if isinstance(dims, Mapping) else ():
        if not any(_is_in(one.callable, name, key) for one in forms for name in one.leaves):
            names = ", ".join(name for one in forms for name in one.leaves)
            raise RunnerError(f"batch_dims names {key!r}; the arguments are {names}")


@dataclass(frozen=True, slots=True)
class _Declared:
    """What is said of an argument: its dimension, None where it has no rows. `is_own`: of it alone."""

    dim: int | None
    is_own: bool


def _declared(callable_: str, name: str, dims: Dims) -> _Declared | None:
    if dims is None:
        return None
    if isinstance(dims, int):
        return _Declared(dims, is_own=False)
    keys = [key for key in dims if _is_in(callable_, name, key)]
    if not keys:
        return None
    key = max(keys, key=len)  # the one that says most exactly which it is
    return _Declared(dims[key], is_own=key.removeprefix(f"{callable_}.") == name)


def _is_in(callable_: str, name: str, key: str) -> bool:
    own = key.removeprefix(f"{callable_}.")
    return name == own or name.startswith((f"{own}.", f"{own}["))


def _check_declared(
    name: str, said: _Declared | None, dim: int | None, shapes: Mapping[int, tuple[int, ...]]
) -> None:
    """Raise `RunnerError` if `batch_dims` says another dimension than the one that grows."""
    if said is None:
        return
    most = len(next(iter(shapes.values())))
    is_there = said.dim is not None and -most <= said.dim < most
    if dim is None:
        if said.is_own and said.dim is not None:
            raise RunnerError(
                f"batch_dims says {said.dim} for `{name}`, but no dimension grows: {_listed(shapes)}"
            )
    elif said.dim is None or not is_there or said.dim % most != dim:
        raise RunnerError(
            f"batch_dims says {said.dim} for `{name}`, but dimension {dim} grows: {_listed(shapes)}"
        )


def _with_rows(shape: tuple[int, ...], dim: int, unit: int) -> str:
    words = [str(extent) for extent in shape]
    words[dim] = "rows" if unit == 1 else f"{unit} * rows"
    return f"({', '.join(words)}{',' if len(words) == 1 else ''})"


def _listed(shapes: Mapping[int, tuple[int, ...]]) -> str:
    told = sorted(shapes.items())
    return ", ".join(f"{shape} at size {size}" for size, shape in (told[0], told[-1]))


def _short(dtype: torch.dtype | None) -> str:
    return str(dtype).removeprefix("torch.")
