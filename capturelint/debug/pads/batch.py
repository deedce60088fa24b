"""Which dimension of each input is the batch, as the case says it, and how many rows there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from torch import Tensor

from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.backend import Backend
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.signature import parameters
from capturelint.debug.cases.steps import calls_of
from capturelint.debug.pads.calls import Axes, tensors_of
from capturelint.debug.pads.rows import Axis
from capturelint.debug.settings import Settings

_LARGER = 4  # rows, where an example has one
_NEXT = "name the dimension of each in Case(batch_dims=...)"


class NoRowsError(Exception):
    """A case has no batch in which rows could be pad rows. The message says why."""


@dataclass(frozen=True, slots=True)
class Batch:
    """The inputs of one callable that have rows. `total`: how many. `axes`: by path of an input.

    `part`: its calls, one in each step.
    """

    part: Part
    axes: Axes
    total: int

    @property
    def axes_by_size(self) -> Axes:
        """Return `axes` with those of inputs that have one dimension as long as the batch."""
        (call,) = self.part.steps[0]
        found = dict(self.axes)
        for path, tensor in tensors_of(call, self.part.run).items():
            fitting = [dim for dim, size in enumerate(tensor.shape) if size == self.total]
            if path not in found and len(fitting) == 1:
                found[path] = (Axis(fitting[0]),)
        return found


def batch_of(part: Part, case: Case, backend: Backend, settings: Settings) -> Batch:
    """Return the batch of a callable of `case`; with one row a larger one, if inputs are made so.

    Raises `NoRowsError`, or `CaseError` if `batch_dims` does not fit the inputs.
    """
    if case.batch_dims is None:
        raise NoRowsError(
            "the case does not say which dimension is the batch: give batch_dims, or --batch-dim 0"
        )
    batch = _batch(part, case)
    if batch.total > 1:
        return batch
    larger = _with_more_rows(case)
    if larger is None:
        raise NoRowsError("the batch has one row: give inputs of more, or inputs(seed, batch_size)")
    try:
        steps = calls_of(larger, settings, backend)
        made = [steps(step)[part.path] for step in (0, 1)]
    except CaseError as error:
        raise NoRowsError(
            f"the batch has one row, and a larger one cannot be made: {error}"
        ) from error
    shared = tuple(steps.shared.objects.values())
    calls = [(Call(*one, shared=shared),) for one in made]
    batch = _batch(replace(part, steps=tuple(calls)), case)
    if batch.total == 1:
        raise NoRowsError(f"inputs(seed, batch_size={_LARGER}) gives one row")
    return batch


def with_batch_dims(case: Case, said: Sequence[str]) -> Case:
    """Return the case with what `--batch-dim` says, if anything. Raises `CaseError`."""
    if not said:
        return case
    dims = dict(_said(one) for one in said)
    if "" in dims and len(said) > 1:
        raise CaseError("--batch-dim DIM is of all inputs; give it alone, or NAME=DIM for each")
    return replace(case, batch_dims=dims.get("", dims))


def _said(text: str) -> tuple[str, int]:
    name, is_named, number = text.rpartition("=")
    try:
        dim = int(number)
    except ValueError:
        dim = None
    if dim is None or (is_named and not name):
        raise CaseError(f"--batch-dim is {text!r}; it must be a dimension such as 0, or x=0")
    return name, dim


def check_names(parts: Mapping[str, Part], case: Case) -> None:
    """Raise `CaseError` if `batch_dims` names an input, or a dimension, that no callable has."""
    if case.batch_dims is None:
        return
    if not isinstance(case.batch_dims, Mapping):
        _check_dimension(parts, case.batch_dims)
        return
    paths = [path for part in parts.values() for path in _full(part)]
    for name in case.batch_dims:
        if not any(_is_in(path, name) for path in paths):
            raise CaseError(f"batch_dims names {name!r}; the inputs are {', '.join(paths)}")


def _check_dimension(parts: Mapping[str, Part], dim: int) -> None:
    tensors = [one for part in parts.values() for one in _first_tensors(part).values()]
    if tensors and not any(-one.dim() <= dim < one.dim() for one in tensors):
        most = max(one.dim() for one in tensors)
        raise CaseError(f"batch_dims={dim}: inputs have {most} dimensions at most; {_NEXT}")


def _batch(part: Part, case: Case) -> Batch:
    axes: dict[str, tuple[Axis, ...]] = {}
    sizes: dict[str, int] = {}
    for path, tensor in _first_tensors(part).items():
        dim = _dim(path, part.path, tensor, case)
        if dim is not None:
            axes[path] = (Axis(dim),)
            sizes[path] = tensor.shape[dim]
    if not axes:
        raise NoRowsError("none of its inputs has the dimension that batch_dims names")
    first = next(iter(sizes))
    for path, size in sizes.items():
        if size != sizes[first]:
            raise CaseError(
                f"batch_dims: the input `{first}` has {sizes[first]} rows and `{path}` has {size}; "
                f"{_NEXT}, and leave out what has no rows"
            )
    return Batch(part, axes, sizes[first])


def _dim(path: str, part: str, tensor: Tensor, case: Case) -> int | None:
    dims = case.batch_dims
    if isinstance(dims, Mapping):
        names = [name for name in dims if _is_in(path, name) or _is_in(f"{part}.{path}", name)]
        if not names:
            return None
        dim = dims[max(names, key=len)]  # the one that says most exactly which it is
        if dim is None:
            return None
    else:
        assert dims is not None
        dim = dims
    if -tensor.dim() <= dim < tensor.dim():
        return dim % tensor.dim()
    if isinstance(dims, Mapping):
        raise CaseError(f"batch_dims: the input `{path}` has no dimension {dim}; {_NEXT}")
    return None


def _first_tensors(part: Part) -> dict[str, Tensor]:
    (call,) = part.steps[0]
    return tensors_of(call, part.run)


def _full(part: Part) -> list[str]:
    paths = list(_first_tensors(part))
    return [*paths, *(f"{part.path}.{path}" for path in paths if part.path)]


def _is_in(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))


def _with_more_rows(case: Case) -> Case | None:
    make = case.inputs
    if not callable(make) or "batch_size" not in parameters(make):
        return None
    return replace(case, inputs=partial(make, batch_size=_LARGER))
