"""What `bench` is asked to measure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.measure.graphs.sized import case_at


@dataclass(frozen=True, slots=True)
class Plan:
    """`sizes` ascend. `callables`: names, () for all. `compiled`: also under `torch.compile`.

    `eager`: globs over modules that run eagerly between captured pieces. `repeats`: steps that
    count, of each way and size; `warmup`: steps before them.
    """

    sizes: tuple[int, ...]
    callables: tuple[str, ...] = ()
    compiled: bool = False
    eager: tuple[str, ...] = ()
    repeats: int = 40
    warmup: int = 5


def restricted(case: Case, names: Sequence[str]) -> Case:
    """Return the case with the named callables alone. Raises `CaseError` if it lacks one."""
    case_at(case, 1)  # what cannot make other sizes is said first
    if not names:
        return case
    for name in names:
        if name not in case.named:
            known = ", ".join(one for one in case.named if one) or "one only, without a name"
            raise CaseError(f"--callables {name}: the case has no such callable; it has {known}")
    make: Callable[..., Mapping[str, Any]] = case.inputs  # type: ignore[assignment] # `case_at` says so

    def inputs(seed: int, *, batch_size: int) -> dict[str, Any]:
        made = make(seed, batch_size=batch_size)
        return {name: made[name] for name in names}

    return replace(case, callables={name: case.named[name] for name in names}, inputs=inputs)
