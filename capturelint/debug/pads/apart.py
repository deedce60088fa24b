"""Run the own lines of a part: what it calls answers what it returned, in clean real rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from capturelint.debug.attempts.compare import Tolerance, difference
from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.attempts.replaced import StandInError, StandIns
from capturelint.debug.pads.calls import tensors_of
from capturelint.debug.pads.families import Calls, Family
from capturelint.debug.pads.ground import Ground
from capturelint.debug.pads.left import Left
from capturelint.debug.pads.moved import Moved, Reference
from capturelint.debug.pads.rows import real_part
from capturelint.debug.trees.trees import copied

_Heard = Mapping[str, Sequence[Call]]  # by path of the called module


def moved_apart(
    family: Family, children: Mapping[str, Family], reference: Reference, ground: Ground
) -> Moved:
    """Return what moves in the results of a part, or in what it gives to `children`, which answer.

    Raises StandInError if what those return cannot be told apart by rows, CannotRunPadsError if a
    run fails.
    """
    base, given = _run(family, children, family.base, ground, is_filled=False)
    filled, then = _run(family, children, family.filled, ground, is_filled=True)
    for path, child in children.items():
        found = _moved_in(child, given.get(path, ()), then.get(path, ()), reference.tolerance)
        if found.difference is not None:
            return found
    return reference.on(base).moved(filled)


def clean_stand_ins(children: Mapping[str, Family], *, is_filled: bool) -> list[Part]:
    """Return parts that answer for `children`. Raises StandInError."""
    made: list[Part] = []
    for path, child in children.items():
        if not child.answers:
            raise StandInError(f"which rows of what `{path}` returns are pad rows cannot be told")
        answers = child.answers[1:] if is_filled else child.answers[:1]
        made.append(replace(child.part, results=answers))
    return made


def _run(
    family: Family,
    children: Mapping[str, Family],
    calls: Calls,
    ground: Ground,
    *,
    is_filled: bool,
) -> tuple[Left, _Heard]:
    heard: dict[str, list[Call]] = defaultdict(list)

    def hear(path: str, args: tuple[object, ...], kwargs: dict[str, object]) -> None:
        heard[path].append(Call(*copied((args, kwargs))))

    stand_ins = StandIns(clean_stand_ins(children, is_filled=is_filled), heard=hear)
    return ground.left(family.part, calls, stand_ins), heard


def _moved_in(
    child: Family, given: Sequence[Call], then: Sequence[Call], tolerance: Tolerance
) -> Moved:
    """Return what moved in the real rows of what a called module receives."""
    for number, (one, other) in enumerate(zip(given, then, strict=False)):
        theirs = tensors_of(other, child.part.run)
        for path, tensor in tensors_of(one, child.part.run).items():
            axes = child.axes[number].get(path) if number < len(child.axes) else None
            if path not in theirs or axes is None or theirs[path].shape != tensor.shape:
                continue
            real = (real_part(each, axes, child.rows) for each in (tensor, theirs[path]))
            found = difference(next(real), next(real), tolerance)
            if found is not None:
                name = f"{path} of {child.part.path}" if child.part.path else path
                return Moved(replace(found, path=name))
    return Moved()
