"""Reading results out of a graph's memory: only the real rows, as copies or as views."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from capturelint.debug.trees.copies import nodes, with_others
from capturelint.debug.trees.descriptions import described
from capturelint.debug.trees.trees import leaves
from capturelint.measure.graphs.layout import growth
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.graphs.same import is_same


class Shared:
    """Objects that are the same in each step, such as a cache. What results hold of them stays it."""

    def __init__(self, objects: tuple[object, ...]) -> None:
        self.objects = objects
        self._tensors = [one for one in nodes(list(objects)) if isinstance(one, Tensor)]
        self.made: dict[int, object] = {id(one): one for one in (*objects, *self._tensors)}


@dataclass(frozen=True, slots=True)
class Seen:
    """What a call returned: the paths and shapes of its tensors, and all else by path."""

    tensors: tuple[tuple[str, tuple[int, ...]], ...]
    others: tuple[tuple[str, object], ...]


@dataclass(frozen=True, slots=True)
class Result:
    """Which dimensions of each tensor in a result hold rows, with the elements of each row."""

    grown: tuple[Mapping[int, int], ...]

    def read(
        self, output: object, rows: int, *, size: int, shared: Shared, is_view: bool
    ) -> object:
        """Return the first `rows` of `size` rows of a result, as copies or as views. Without gradients."""
        made = shared.made
        if isinstance(output, Tensor) and id(output) not in made:
            return _taken(output, self.grown[0], rows, size, is_view=is_view)
        made = dict(made)
        for tensor, grown in zip(tensors_of(output), self.grown, strict=True):
            if id(tensor) not in made:
                made[id(tensor)] = _taken(tensor, grown, rows, size, is_view=is_view)
        if type(output) is tuple and all(id(one) in made for one in output):
            return tuple(made[id(one)] for one in output)
        return with_others(output, made)


def result_of(callable_: str, seen: Mapping[int, Seen]) -> Result:
    """Return how a result is read. `seen`: what calls of each size returned.

    Raises `RunnerError` if results of two sizes differ in more than rows.
    """
    paths = {size: [path for path, _ in one.tensors] for size, one in seen.items()}
    first, *others = paths.values()
    if any(one != first for one in others):
        raise RunnerError(f"{callable_} returns other tensors at other sizes; no rows can be told")
    _check_others(callable_, seen)
    return Result(
        tuple(
            growth(
                f"the result{f' {path}' if path else ''} of {callable_}",
                {size: one.tensors[index][1] for size, one in seen.items()},
            )
            for index, path in enumerate(first)
        )
    )


def _check_others(callable_: str, seen: Mapping[int, Seen]) -> None:
    """Refuse what a graph would keep and eager calls change, such as a number of rows."""
    (size, first), *rest = seen.items()
    for path, value in first.others:
        if isinstance(value, Iterator):
            raise RunnerError(
                f"{callable_} returns {described(value)}, which computes after the call;"
                " return tensors"
            )
        for other_size, other in rest:
            found = dict(other.others).get(path)
            if not is_same(value, found):
                was, is_ = described(value), described(found)
                told = f"and {was if was != is_ else 'another'} at size {size}"
                raise RunnerError(
                    f"{callable_} returns {is_}{_at(path)} at size {other_size}, {told};"
                    " a graph keeps one: return tensors only"
                )


def _at(path: str) -> str:
    return f" as `{path}`" if path else ""


def tensors_of(output: object) -> list[Tensor]:
    """Return the tensors in a result, in a stable order."""
    return [leaf.value for leaf in leaves(output) if isinstance(leaf.value, Tensor)]


def seen_in(output: object) -> Seen:
    """Return what a call returned."""
    found = leaves(output)
    tensors = [(one.path, tuple(one.value.shape)) for one in found if isinstance(one.value, Tensor)]
    others = [(one.path, one.value) for one in found if not isinstance(one.value, Tensor)]
    return Seen(tuple(tensors), tuple(others))


class Kept:
    """Memory for a result outside of the graphs' pool, which no other graph writes."""

    def __init__(self, output: object, shared: Shared) -> None:
        """Take memory for what is like `output`, besides what it holds of `shared`."""
        self._shared = shared
        self._memory = [
            torch.empty_like(tensor, requires_grad=False) for tensor in self._own(output)
        ]

    def take(self, output: object) -> object:
        """Copy a result into the memory, as part of the graph. Return it as it lies there."""
        made = dict(self._shared.made)
        with torch.no_grad():
            for memory, tensor in zip(self._memory, self._own(output), strict=True):
                made[id(tensor)] = memory.copy_(tensor)
        return with_others(output, made)

    def _own(self, output: object) -> list[Tensor]:
        return [one for one in tensors_of(output) if id(one) not in self._shared.made]


def without_gradients(output: object) -> object:
    """Return a result with its tensors detached."""
    made = {id(one): one.detach() for one in tensors_of(output) if one.requires_grad}
    return with_others(output, made) if made else output


def _taken(
    tensor: Tensor, grown: Mapping[int, int], rows: int, size: int, *, is_view: bool
) -> Tensor:
    if rows != size:
        for dim, unit in grown.items():
            tensor = tensor.narrow(dim, 0, rows * unit)
    return tensor.detach() if is_view else tensor.clone()
