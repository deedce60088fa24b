"""Batches whose real rows are alike, so that a pad row alone decides what is asked of all rows.

`if mask.all()` asks nothing of pad rows where a real row holds False already.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from capturelint.debug.attempts.compare import EXACT, difference
from capturelint.debug.attempts.part import Call
from capturelint.debug.pads.calls import Axes, Run, changed, spliced, tensors_of
from capturelint.debug.pads.fills import is_integer, is_truth
from capturelint.debug.pads.rows import Rows


@dataclass(frozen=True, slots=True)
class Beside:
    """Pad rows next to real rows of another kind. `name`: as printed.

    `base`: the call whose rows are all of the kind of the real ones. `pads`: it with other pad rows.
    """

    name: str
    base: Call
    pads: Call


def besides(call: Call, run: Run, axes: Axes, rows: Rows, stale: Call) -> Iterator[Beside]:
    """Yield what is worth trying, of whole rows where rows that steps hold will do."""
    for name, base, other in _kinds(call, run, axes, stale):
        pads = spliced(base, run, axes, rows, other)
        if pads is not None and _differs(base, pads, run):
            yield Beside(name, base, pads)


def _kinds(call: Call, run: Run, axes: Axes, stale: Call) -> Iterator[tuple[str, Call, Call]]:
    """Yield a name, a call with rows of one kind, and a call with rows of another."""
    mine, others = tensors_of(call, run), tensors_of(stale, run)
    is_signed = False
    for path, found in axes.items():
        if not found or path not in mine or path not in others:
            continue
        is_signed = is_signed or _is_signed(mine[path])
        if is_truth(mine[path]) or is_integer(mine[path]):
            known = torch.cat([one[path].movedim(found[0].dim, 0) for one in (mine, others)])
            yield from _alike(path, known, call, run, axes, stale)
    if is_signed:
        positive, negative = (changed(call, run, axes, _signed(sign)) for sign in (1, -1))
        yield "negative next to positive", positive, negative
        yield "positive next to negative", negative, positive


def _alike(
    path: str, known: Tensor, call: Call, run: Run, axes: Axes, stale: Call
) -> Iterator[tuple[str, Call, Call]]:
    """Yield batches of one row over and over: the one of least and of most in an input.

    `known`: the rows of that input in both steps. Where each holds True and False, one holds
    either alone.
    """
    by_row = known.flatten(1).long() if known.dim() > 1 else known[:, None].long()
    low, high = by_row.amin(1), by_row.amax(1)

    def of(row: Tensor) -> Call:
        return changed(call, run, axes, _of_row(int(row), call, run, axes, stale))

    least, most = ("False", "True") if is_truth(known) else ("the lowest", "the highest")
    yield f"{most} next to {least} in `{path}`", of(high.argmin()), of(high.argmax())
    yield f"{least} next to {most} in `{path}`", of(low.argmax()), of(low.argmin())
    if is_truth(known) and bool((low < high).all()):
        true, false = (
            changed(of(high.argmax()), run, axes, _filled(path, value=value))
            for value in (True, False)
        )
        yield f"False next to True in `{path}`", true, false
        yield f"True next to False in `{path}`", false, true


def _of_row(
    row: int, call: Call, run: Run, axes: Axes, stale: Call
) -> Callable[[str, Tensor], object]:
    mine, others = tensors_of(call, run), tensors_of(stale, run)

    def write(path: str, by_row: Tensor) -> None:
        found = axes[path]
        if path in others and found:
            step, place = divmod(row, by_row.shape[0])
            source = (mine, others)[step][path].movedim(found[0].dim, 0)
            by_row.copy_(source[place].clone().expand_as(by_row))

    return write


def _signed(sign: int) -> Callable[[str, Tensor], object]:
    return lambda _, by_row: by_row.abs_().mul_(sign) if _is_signed(by_row) else None


def _is_signed(tensor: Tensor) -> bool:
    return tensor.is_floating_point() and tensor.itemsize > 1  # float8 has no arithmetic


def _filled(wanted: str, *, value: bool) -> Callable[[str, Tensor], object]:
    return lambda path, by_row: by_row.fill_(value) if path == wanted else None


def _differs(base: Call, pads: Call, run: Run) -> bool:
    others = tensors_of(pads, run)
    return any(
        difference(one, others[path], EXACT) is not None
        for path, one in tensors_of(base, run).items()
    )
