"""A case at one batch size: its inputs are asked for so many rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from inspect import Parameter

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.signature import parameters
from capturelint.errors import shown
from capturelint.measure.graphs.mistakes import RunnerError

_WANTED = "write it as `def inputs(seed, batch_size=1)`"


def case_at(case: Case, size: int) -> Case:
    """Return the case with inputs of `size` rows. Raises `RunnerError` if it makes one size only."""
    if not callable(case.inputs):
        kind = "a list of recorded inputs" if isinstance(case.inputs, list) else "one example"
        raise RunnerError(f"inputs is {kind}, of one size; {_WANTED}")
    taken = parameters(case.inputs)
    if "batch_size" not in taken and all(
        one.kind is not Parameter.VAR_KEYWORD for one in taken.values()
    ):
        raise RunnerError(f"inputs takes no batch_size, so other sizes cannot be made; {_WANTED}")
    return replace(case, inputs=partial(case.inputs, batch_size=size))


def checked_sizes(sizes: object) -> tuple[int, ...]:
    """Return sizes in ascending order. Raises `RunnerError` if they make no ladder."""
    if not isinstance(sizes, Iterable):
        raise RunnerError(f"sizes is {shown(sizes)}; give whole numbers, such as [1, 4, 16]")
    found: list[int] = []
    for size in sizes:
        if isinstance(size, bool) or not isinstance(size, int) or size < 1:
            raise RunnerError(f"sizes holds {shown(size)}; give whole numbers, 1 or more")
        if size in found:
            raise RunnerError(f"sizes holds {size} twice; give each once")
        found.append(size)
    if not found:
        raise RunnerError("sizes is empty; give at least one")
    return tuple(sorted(found))
