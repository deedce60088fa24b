"""Whether real rows are what they were: results, arguments and state of two runs, leaf by leaf."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from capturelint.debug.attempts.compare import EXACT, Difference, Tolerance, difference
from capturelint.debug.pads.left import RESULT, Left
from capturelint.debug.pads.rows import (
    Axis,
    Rows,
    axes_between,
    differing,
    doubtful_part,
    only_axis,
    real_part,
    settled,
)

# Times the bound: code that tells full rows from others may compute the same in another way.
_CLEARLY = 10


@dataclass(frozen=True, slots=True)
class Moved:
    """What moved in real rows. `doubt`: why it cannot be told of something that moved, or ""."""

    difference: Difference | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Shorter:
    """What a run of fewer rows, or of more, left. `total`: its rows.

    `others`: what runs of other contents, or of one row less, left. What changes between these and
    `left`, such as some rows of a cache or a counter, is the work of those rows.
    """

    left: Left
    total: int
    others: Sequence[Left] = ()


@dataclass(slots=True)
class Reference:
    """What real rows are compared with. `base`: left by a run on rows that are all real.

    `before`: what arguments and state held before the first call of all. `probe`: left by a run with another first
    row. `shorter`: left by a run of another number of rows, or None. `floor`: what runs of the
    same differ by. `known`: where state belongs to real rows, as other runs showed.
    """

    rows: Rows
    base: Left
    before: Left
    probe: Left
    shorter: Shorter | None
    tolerance: Tolerance
    floor: dict[str, float] = field(default_factory=dict)
    known: dict[str, Tensor] = field(default_factory=dict)
    _axes: dict[str, tuple[Axis, ...] | None] = field(default_factory=dict)

    def add_noise(self, again: Left) -> None:
        """Learn what a second run of the same differs by."""
        for path, value in self.base.items():
            if path in again:
                found = difference(value, again[path], EXACT)
                if found is not None:
                    gap = math.inf if found.largest is None else found.largest
                    self.floor[path] = max(gap, self.floor.get(path, 0.0))

    def on(self, base: Left) -> Reference:
        """Return a reference with another base, of the same shapes: its own lines alone."""
        known = {path: self.axes(path) for path in base if path in self.base}
        return replace(self, base=base, _axes=known)

    def axes(self, path: str) -> tuple[Axis, ...] | None:
        """Return what follows the batch in a tensor of `base`; None if that cannot be told."""
        if path not in self._axes:
            self._axes[path] = self._found_axes(path)
        return self._axes[path]

    def has_rows(self) -> bool:
        """Return whether anything is known of which real rows could be told from pad rows.

        A list of rows is shorter where there are fewer.
        """
        shorter = None if self.shorter is None else self.shorter.left
        if shorter is not None and any(path not in shorter for path in self.base):
            return True
        return any(
            self.axes(path) or (not path.startswith(RESULT) and self.owned(path) is not None)
            for path, value in self.base.items()
            if isinstance(value, Tensor)
        )

    def moved(self, left: Left) -> Moved:
        """Return what of `base` is something else in `left`, where that belongs to real rows."""
        doubt = ""
        for path, value in self.base.items():
            if path in left:
                found = self._moved(path, value, left[path])
            elif path.startswith(RESULT):
                found = Moved(doubt=f"`{path}` is not there with other pad rows")
            else:
                continue
            if found.difference is not None:
                if not self._may_be_noise(path, found.difference):
                    return found
                found = Moved(doubt=f"runs on the same rows differ in `{path}` by themselves")
            doubt = doubt or found.doubt
        return Moved(doubt=doubt)

    def may_move(self, left: Left) -> bool:
        """Return whether real rows of a result, or a single number, are clearly something else.

        That is a first look, where it is not known which of the state belongs to real rows.
        """
        return any(
            self._is_clearly_moved(path, value, left[path])
            for path, value in self.base.items()
            if isinstance(value, Tensor) and path in left
        )

    def _is_clearly_moved(self, path: str, value: Tensor, other: object) -> bool:
        axes = self.axes(path)
        if not isinstance(other, Tensor) or value.shape != other.shape:
            return False
        if not axes and value.numel() != 1:
            return False
        real = [real_part(one, axes or (), self.rows) for one in (value, other)]
        found = difference(real[0], real[1], self.tolerance)
        if found is None or found.largest is None or found.tolerance is None:
            return False
        return not found.largest <= _CLEARLY * found.tolerance

    def _may_be_noise(self, path: str, found: Difference) -> bool:
        """Return whether eager runs of the same differ so much that chance may be all there is."""
        noise = self.floor.get(path, 0.0)
        bound = (found.tolerance or 0.0) - noise
        return noise > bound and found.largest is not None and found.largest < math.inf

    def _found_axes(self, path: str) -> tuple[Axis, ...] | None:
        value, probe = self.base[path], self.probe.get(path)
        if not isinstance(value, Tensor):
            return ()
        if self.shorter is None:
            return only_axis(value.shape, self.rows)
        other = self.shorter.left.get(path)
        if not isinstance(other, Tensor):
            return ()
        if other.dim() != value.dim():  # `squeeze` of a batch of one
            return only_axis(value.shape, self.rows)
        axes = axes_between(value.shape, other.shape, self.rows, self.shorter.total)
        return settled(axes, value, probe, self.rows) if isinstance(probe, Tensor) else axes

    def _moved(self, path: str, value: object, other: object) -> Moved:
        tolerance = replace(self.tolerance, floor={"": self.floor.get(path, 0.0)})
        if not isinstance(value, Tensor) or not isinstance(other, Tensor):
            found = difference(value, other, tolerance)
            is_owned = found is not None and self._is_owned_value(path)
            return _named(found, path) if is_owned else Moved()
        if value.shape != other.shape or value.dtype != other.dtype:
            return Moved(doubt=f"`{path}` has another shape with other pad rows")
        axes = self.axes(path)
        if axes is None and path not in self.known:
            doubt = "" if difference(value, other, tolerance) is None else self._doubt(path)
            return Moved(doubt=doubt)
        if not axes:
            return self._moved_without_rows(path, value, other, tolerance)
        real = real_part(value, axes, self.rows), real_part(other, axes, self.rows)
        found = difference(*real, tolerance)
        if found is not None:
            return _named(found, path)
        first, then = (doubtful_part(one, axes, self.rows) for one in (value, other))
        return Moved(doubt=self._doubt(path) if difference(first, then, tolerance) else "")

    def _moved_without_rows(
        self, path: str, value: Tensor, other: Tensor, tolerance: Tolerance
    ) -> Moved:
        if difference(value, other, tolerance) is None:
            return Moved()
        owned = self.owned(path)
        if owned is None and (self.shorter is None or not self.shorter.others):
            return Moved(doubt=f"whether `{path}` belongs to real rows cannot be told")
        if owned is None:
            return Moved()
        found = difference(value[owned], other[owned], tolerance)
        return Moved() if found is None else _named(found, path)

    def owned(self, path: str) -> Tensor | None:
        """Return where a tensor without rows belongs to real rows; None if nowhere.

        That is what they alone write or return where there are no pad rows, and what another
        content or number of them changes.
        """
        value = self.base[path]
        if not isinstance(value, Tensor):
            return None
        found = [one for one in (self._shown(path, value), self.known.get(path)) if one is not None]
        return torch.stack(found).any(0) if found else None

    def _shown(self, path: str, value: Tensor) -> Tensor | None:
        one = None if self.shorter is None else _like(self.shorter.left.get(path), value)
        if self.shorter is None or one is None:
            return None
        owned = torch.zeros(value.shape, dtype=torch.bool, device=value.device)
        for left in self.shorter.others:
            other = _like(left.get(path), value)
            if other is not None:
                owned |= differing(one, other)
        before = None if path.startswith(RESULT) else _like(self.before.get(path), value)
        if before is not None:
            owned &= differing(one, before)
        return owned if bool(owned.any()) else None

    def _is_owned_value(self, path: str) -> bool:
        """Return whether a value that is no tensor follows the real rows where they are alone."""
        if self.shorter is None or path not in self.shorter.left:
            return False
        one = self.shorter.left[path]
        others = [left[path] for left in self.shorter.others if path in left]
        return any(difference(one, other, EXACT) is not None for other in others)

    def _doubt(self, path: str) -> str:
        return f"`{path}` changes, and which of it belongs to real rows cannot be told"


def _named(found: Difference | None, path: str) -> Moved:
    assert found is not None
    return Moved(replace(found, path=path.removeprefix(f"{RESULT}.")))


def _like(one: object, value: Tensor) -> Tensor | None:
    """Return `one` if it is a tensor of the same shape and dtype as `value`, else None."""
    is_like = isinstance(one, Tensor) and (one.shape, one.dtype) == (value.shape, value.dtype)
    return one if is_like and isinstance(one, Tensor) else None
