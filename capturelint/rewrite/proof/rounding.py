"""Whether old and new code differ by more than sums in another order do, which other CPUs may add up otherwise."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.attempts.seen import Noise, most
from capturelint.rewrite.proof.gradients import Gradients, largest_of, little, noise_of, told_apart
from capturelint.rewrite.proof.trial import Bench, Came, Input
from capturelint.rewrite.proof.wide import CLOSE, NEAR

_Run = TypeVar("_Run")
# Runs of the old code beside the first, and how much more than they differ by the new one may differ.
_AGAIN = 2
_MARGIN = 3.0

# In parts of the largest gradient of all: float32 and float64 round so.
_OF_LARGEST, _OF_LARGEST_WIDE = 1e-5, 1e-12

Context = Callable[[], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Rounding:
    """Tells runs apart. What is apart by little in float32 is run in float64, which then decides.

    On a GPU some kernels add up in no fixed order: what the old code differs from itself by is no difference.

    `old`, `new`: contexts in which the old code runs, and the new.
    """

    bench: Bench
    old: Context = nullcontext
    new: Context = nullcontext

    def difference(
        self, one: Input, old: Came, new: Came, *, is_same: bool = False, with_layout: bool = True
    ) -> str:
        """Return in words what tells two runs on an input apart, "" if nothing does."""

        def told(tolerance: Tolerance, noise: Noise | None = None) -> str:
            return self.bench.difference(
                old,
                new,
                is_same=is_same,
                with_layout=with_layout,
                tolerance=tolerance,
                noise=noise,
            )

        found = told(self.bench.tolerance)
        if not found or not self._decides:
            return found
        noise = self._noise(one, old)
        if noise and not told(self.bench.tolerance, noise):
            return ""
        if told(NEAR, noise):
            return found
        wide = self._in_float64(lambda bench: bench.came(one.calls, one.held))
        if wide is None or any(came.seen is None for came in wide):
            return found
        is_close = not self.bench.difference(*wide, with_layout=with_layout, tolerance=CLOSE)
        return "" if is_close else found

    def gradient_difference(self, one: Input, old: Gradients | str, new: Gradients | str) -> str:
        """Return in words which gradients on an input differ, "" if none do."""
        found = told_apart(old, new, self.bench.tolerance, may_overflow=one.may_overflow)
        if not found or not self._decides or isinstance(old, str):
            return found
        noise = self._noise_of_gradients(one, old, self.bench)
        usual = little(noise, old)
        if usual and not told_apart(
            old, new, self.bench.tolerance, may_overflow=one.may_overflow, noise=_times(usual)
        ):
            return ""
        # What passes the largest float32 is far from that of float64. Gradients that nearly cancel
        # are rounded as the large ones are that they are sums of. Noise may be large where what follows
        # magnifies it, as a norm of equal numbers does: there float64 decides what is of the same size.
        unusual = {name: largest_of({name: old[name]}) for name in noise.keys() - usual.keys()}
        near = _more({**_times(usual), **unusual}, old, _OF_LARGEST)
        if told_apart(old, new, NEAR, may_overflow=True, noise=near):
            return found
        return self._wide_gradient_difference(one, found)

    def _wide_gradient_difference(self, one: Input, found: str) -> str:
        """Return in words which gradients differ in float64 too, "" if none do. `found`: what differs in float32."""
        wide = self._in_float64(lambda bench: bench.gradients(one.calls, one.held))
        if wide is None:
            return found
        raised = [came for came in wide if isinstance(came, str)]
        if raised:
            return f"{found}; float64 cannot decide, as it raises {raised[0]}"
        old, new = wide
        assert not isinstance(old, str)

        def told(noise: Mapping[str, float]) -> str:
            more = _more(noise, old, _OF_LARGEST_WIDE)
            return told_apart(old, new, CLOSE, may_overflow=one.may_overflow, noise=more)

        apart = told({})
        if not apart:
            return ""
        noise = self._noise_of_gradients(one, old, replace(self.bench, is_wide=True))
        return f"{found}; in float64 {apart}" if told(_times(little(noise, old))) else ""

    @property
    def _decides(self) -> bool:
        """Whether float64 may decide: not where the user said how far numbers may be apart."""
        return self.bench.settings.rtol is None and self.bench.settings.atol is None

    def _noise(self, one: Input, old: Came) -> Noise:
        """Return what runs of the old code differ by, where that is little."""
        found: list[Noise] = []
        for _ in range(_AGAIN):
            with self.old():
                again = self.bench.came(one.calls, one.held)
            if old.seen is None or again.seen is None:
                return {}
            if self.bench.difference(old, again, with_layout=False, tolerance=NEAR):
                return {}
            found.append(old.seen.noise(again.seen))
        return {
            place: {path: _MARGIN * apart for path, apart in by_path.items()}
            for place, by_path in most(found).items()
            if by_path
        }

    def _noise_of_gradients(self, one: Input, old: Gradients, bench: Bench) -> Mapping[str, float]:
        """Return what runs of the old code differ by, by name."""
        found: dict[str, float] = {}
        for _ in range(_AGAIN):
            with self.old():
                again = bench.gradients(one.calls, one.held)
            if isinstance(again, str):
                return {}
            for name, apart in noise_of(old, again).items():
                found[name] = max(found.get(name, 0.0), apart)
        return found

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


def _times(noise: Mapping[str, float]) -> Mapping[str, float]:
    """Return how much more than it differs by from run to run the new code may differ."""
    return {name: _MARGIN * apart for name, apart in noise.items()}


def _more(noise: Mapping[str, float], of: Gradients, part: float) -> Mapping[str, float]:
    """Return what is added to the tolerance of each gradient: `noise`, and a part of the largest of all."""
    least = part * largest_of(of)
    return {name: noise.get(name, 0.0) + least for name in of}
