"""Whether old and new code differ by more than sums in another order do, which other CPUs may add up otherwise."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from capturelint.debug.attempts.compare import Tolerance
from capturelint.rewrite.proof.gradients import Gradients, told_apart
from capturelint.rewrite.proof.trial import Bench, Came, Input
from capturelint.rewrite.proof.wide import CLOSE, NEAR

_Run = TypeVar("_Run")
Context = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Rounding:
    """Tells runs apart. What is apart by little in float32 is run in float64, which then decides.

    `old`, `new`: contexts in which the old code runs, and the new.
    """

    bench: Bench
    old: Context = nullcontext
    new: Context = nullcontext

    def difference(
        self, one: Input, old: Came, new: Came, *, is_same: bool = False, with_layout: bool = True
    ) -> str:
        """Return in words what tells two runs on an input apart, "" if nothing does."""

        def told(tolerance: Tolerance) -> str:
            return self.bench.difference(
                old, new, is_same=is_same, with_layout=with_layout, tolerance=tolerance
            )

        found = told(self.bench.tolerance)
        if not found or not self._decides or told(NEAR):
            return found
        wide = self._in_float64(lambda bench: bench.came(one.calls, one.held))
        if wide is None or any(one.seen is None for one in wide):
            return found
        is_close = not self.bench.difference(*wide, with_layout=with_layout, tolerance=CLOSE)
        return "" if is_close else found

    def gradient_difference(self, one: Input, old: Gradients | str, new: Gradients | str) -> str:
        """Return in words which gradients on an input differ, "" if none do."""
        found = told_apart(old, new, self.bench.tolerance, may_overflow=one.may_overflow)
        if not found or not self._decides:
            return found
        # What passes the largest float32 is far from that of float64.
        if told_apart(old, new, NEAR, may_overflow=True):
            return found
        wide = self._in_float64(lambda bench: bench.gradients(one.calls, one.held))
        if wide is None or any(isinstance(one, str) for one in wide):
            return found
        is_close = not told_apart(*wide, CLOSE, may_overflow=one.may_overflow)
        return "" if is_close else found

    @property
    def _decides(self) -> bool:
        """Whether float64 may decide: not where the user said how far numbers may be apart."""
        return self.bench.settings.rtol is None and self.bench.settings.atol is None

    def _in_float64(self, run: Callable[[Bench], _Run]) -> tuple[_Run, _Run] | None:
        """Return what the old code and the new come to in float64, None where what they hold cannot be that."""
        wide = replace(self.bench, is_wide=True)
        try:
            with self.old():
                ours = run(wide)
            with self.new():
                return ours, run(wide)
        except (RuntimeError, TypeError):  # no memory for it, or a tensor of a class of its own
            return None
