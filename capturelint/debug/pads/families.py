"""What one part receives in runs that differ in their pad rows, and what the modules it calls do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from capturelint.debug.attempts.kept import Kept, kept_call
from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.attempts.recording import record
from capturelint.debug.pads.calls import Axes, splice, spliced, tensors_of
from capturelint.debug.pads.ground import Ground
from capturelint.debug.pads.rows import Axis, Rows, axes_between, only_axis, settled
from capturelint.debug.trees.parked import Parked
from capturelint.debug.trees.trees import leaves

_MIB = 1 << 20
_UNTOLD = "which rows of what it receives are pad rows cannot be told"

Calls = tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Family:
    """The calls of one part in one step, in several runs.

    `part`: its steps are these runs: on rows that are all real, with other pad rows, and with
    another first row. `clean`: the calls of the second with the real rows of the first. `others`:
    calls on another number of rows, `total`: none, or twice with other contents. `axes`: by call,
    of its inputs. `answers`: what a called module returned in the first run, and that with the pad
    rows of the second; empty where that cannot be told. `why`: why nothing can be said of it, or "".
    `beside`: of what kind its real rows are, next to what pad rows; "" for those of the case.
    """

    part: Part
    rows: Rows
    clean: Sequence[Calls]
    others: Sequence[Calls] = ()
    total: int = 0
    axes: tuple[Axes, ...] = ()
    answers: Sequence[tuple[object, ...]] = ()
    why: str = ""
    beside: str = ""

    @property
    def base(self) -> Calls:
        """Return the calls on rows that are all real."""
        return self.part.steps[0]

    @property
    def filled(self) -> Calls:
        """Return the calls with other pad rows, and the same real ones."""
        return self.clean[0]

    @property
    def probe(self) -> Calls:
        """Return the calls with another first row."""
        return self.part.steps[2]


def called_families(family: Family, ground: Ground) -> dict[str, Family]:
    """Return a family for each module that the part of `family` calls itself, by path.

    Raises what a run raises.
    """
    steps = (family.base, family.filled, family.probe)
    parts = _recorded(family, steps, ground)
    others = _recorded(family, family.others, ground) if family.others else {}
    return {
        path: _called(part, others.get(path), family, len(steps)) for path, part in parts.items()
    }


def _recorded(family: Family, steps: Sequence[Calls], ground: Ground) -> dict[str, Part]:
    part = family.part
    level = record(
        ground.stepping(part, steps),
        root=part.run,
        modules={name: one for name, one in ground.instance.modules.items() if name != part.path},
        steps=len(steps),
        limit=ground.settings.record_limit * _MIB,
        path=part.path,
        shared=part.shared,
    )
    return {one.path: one for one in level.parts}


def _called(part: Part, other: Part | None, family: Family, steps: int) -> Family:
    if part.varies or part.numbers or len(part.steps) < steps:
        why = part.varies or "its calls differ with other pad rows"
        return Family(part, family.rows, (), why=why)
    base, filled, probe = part.steps[:3]
    if other is not None and (other.varies or other.numbers):
        other = None
    fewer = None if other is None else other.steps[0]
    rows, total = family.rows, family.total
    axes = tuple(
        _axes(call, again, None if fewer is None else fewer[number], part, rows, total)
        for number, (call, again) in enumerate(zip(base, probe, strict=True))
    )
    clean = [
        spliced(call, part.run, one, rows, then)
        for call, one, then in zip(base, axes, filled, strict=True)
    ]
    calls = [kept_call(call) for call in clean if call is not None]
    return Family(
        part,
        rows,
        Kept([calls]),
        () if other is None else other.steps,
        total,
        axes,
        _answers(part, other, rows, total),
        why="" if len(calls) == len(clean) else _UNTOLD,
    )


def _axes(
    call: Call, probe: Call, other: Call | None, part: Part, rows: Rows, total: int
) -> dict[str, tuple[Axis, ...] | None]:
    again = tensors_of(probe, part.run)
    fewer = None if other is None else tensors_of(other, part.run)
    return _axes_of(tensors_of(call, part.run), again, fewer, rows, total)


def _axes_of(
    base: Mapping[str, Tensor],
    probe: Mapping[str, Tensor],
    other: Mapping[str, Tensor] | None,
    rows: Rows,
    total: int,
) -> dict[str, tuple[Axis, ...] | None]:
    found: dict[str, tuple[Axis, ...] | None] = {}
    for path, tensor in base.items():
        if other is None:
            axes = only_axis(tensor.shape, rows)
        elif path in other:
            axes = axes_between(tensor.shape, other[path].shape, rows, total)
        else:
            axes = None
        found[path] = settled(axes, tensor, probe[path], rows) if path in probe else axes
    return found


def _answers(
    part: Part, other: Part | None, rows: Rows, total: int
) -> Sequence[tuple[object, ...]]:
    """Return what stands for the module: its results, and those with other pad rows alone."""
    base, filled, probe = part.results[:3]
    fewer = None if other is None else other.results[0]
    clean: list[Parked[object]] = []
    for number, (made, theirs) in enumerate(zip(base, filled, strict=True)):
        less = None if fewer is None else _tensors(fewer[number])
        axes = _axes_of(_tensors(made), _tensors(probe[number]), less, rows, total)
        mine, others = _tensors(made), _tensors(theirs)
        with torch.inference_mode():
            is_told = mine.keys() == others.keys() and all(
                splice(tensor, others[path], axes.get(path), rows) for path, tensor in mine.items()
            )
        if not is_told:
            return ()
        clean.append(Parked(made))
    first = [Parked(one) for one in part.results[0]]
    return Kept([[one.back for one in step] for step in (first, clean)])


def _tensors(tree: object) -> dict[str, Tensor]:
    return {leaf.path: leaf.value for leaf in leaves(tree) if isinstance(leaf.value, Tensor)}
