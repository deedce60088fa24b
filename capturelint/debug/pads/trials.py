"""What a batch is tried with: contents of pad rows, next to the real rows of a case or to others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.pads.batch import Batch
from capturelint.debug.pads.beside import besides
from capturelint.debug.pads.fills import filled, fills_of
from capturelint.debug.pads.rows import Rows


@dataclass(frozen=True, slots=True)
class Trial:
    """One content of pad rows. `name`: as printed. `part`: its steps are the rows of the case, or others.

    `pads`: makes the call with these pad rows; None if no input can hold them. `is_whole`: whether
    a case makes such rows itself. `beside`: of what kind the other rows are; "" for those of the case.
    """

    name: str
    rows: Rows
    part: Part
    pads: Callable[[], Call | None]
    is_whole: bool = True
    beside: str = ""


def trials(batch: Batch) -> Iterator[Trial]:
    """Yield the contents of pad rows next to the rows of the case: half of the batch, and one."""
    part, axes = batch.part, batch.axes
    (call,), (stale,) = part.steps[:2]
    for real in dict.fromkeys((batch.total // 2, batch.total - 1)):
        rows = Rows(batch.total, real)
        for fill in fills_of(call, part.run, axes):
            pads = partial(filled, call, part.run, axes, rows, fill, stale)
            yield Trial(fill.name, rows, part, pads, fill.is_whole)


def trials_beside(batch: Batch) -> Iterator[Trial]:
    """Yield contents of half of the batch next to real rows that are alike in something."""
    part = batch.part
    (call,), (stale,) = part.steps[:2]
    rows = Rows(batch.total, batch.total // 2)
    for one in besides(call, part.run, batch.axes, rows, stale):
        other = replace(part, steps=((one.base,), (stale,)))
        yield Trial(one.name, rows, other, one.pads.copied, beside=one.name)
