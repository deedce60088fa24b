"""Reading results out of a graph's memory: only the real rows, as copies or as views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from capturelint.debug.trees.copies import with_others
from capturelint.debug.trees.trees import leaves
from capturelint.measure.graphs.layout import growth
from capturelint.measure.graphs.mistakes import RunnerError


@dataclass(frozen=True, slots=True)
class Result:
    """Which dimensions of each tensor in a result hold rows, with the elements of each row."""

    grown: tuple[Mapping[int, int], ...]

    def read(self, output: object, rows: int, *, size: int, is_view: bool) -> object:
        """Return the first `rows` of `size` rows of a result, as copies or as views. Without gradients."""
        if isinstance(output, Tensor):
            return _taken(output, self.grown[0], rows, size, is_view=is_view)
        made: dict[int, object] = {}
        for tensor, grown in zip(tensors_of(output), self.grown, strict=True):
            if id(tensor) not in made:
                made[id(tensor)] = _taken(tensor, grown, rows, size, is_view=is_view)
        if type(output) is tuple and all(id(one) in made for one in output):
            return tuple(made[id(one)] for one in output)
        return with_others(output, made)


def result_of(
    callable_: str, outputs: Mapping[int, Sequence[tuple[str, tuple[int, ...]]]]
) -> Result:
    """Return how a result is read. `outputs`: paths and shapes of its tensors by size.

    Raises `RunnerError` if results of two sizes differ in more than rows.
    """
    paths = {size: [path for path, _ in found] for size, found in outputs.items()}
    first, *others = paths.values()
    if any(one != first for one in others):
        raise RunnerError(f"{callable_} returns other tensors at other sizes; no rows can be told")
    return Result(
        tuple(
            growth(
                f"the result{f' {path}' if path else ''} of {callable_}",
                {size: found[index][1] for size, found in outputs.items()},
            )
            for index, path in enumerate(first)
        )
    )


def tensors_of(output: object) -> list[Tensor]:
    """Return the tensors in a result, in a stable order."""
    return [leaf.value for leaf in leaves(output) if isinstance(leaf.value, Tensor)]


def shapes_of(output: object) -> list[tuple[str, tuple[int, ...]]]:
    """Return the paths and shapes of the tensors in a result."""
    return [
        (leaf.path, tuple(leaf.value.shape))
        for leaf in leaves(output)
        if isinstance(leaf.value, Tensor)
    ]


class Kept:
    """Memory for a result outside of the graphs' pool, which no other graph writes."""

    def __init__(self, output: object) -> None:
        """Take memory for what is like `output`."""
        self._memory = [
            torch.empty_like(tensor, requires_grad=False) for tensor in tensors_of(output)
        ]

    def take(self, output: object) -> object:
        """Copy a result into the memory, as part of the graph. Return it as it lies there."""
        made: dict[int, object] = {}
        with torch.no_grad():
            for memory, tensor in zip(self._memory, tensors_of(output), strict=True):
                made[id(tensor)] = memory.copy_(tensor)
        return with_others(output, made)


def _taken(
    tensor: Tensor, grown: Mapping[int, int], rows: int, size: int, *, is_view: bool
) -> Tensor:
    if rows != size:
        for dim, unit in grown.items():
            tensor = tensor.narrow(dim, 0, rows * unit)
    return tensor.detach() if is_view else tensor.clone()
