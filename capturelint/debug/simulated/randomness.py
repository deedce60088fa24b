"""Random numbers of the device: a seed and an offset, as CUDA's Philox generators have.

Inside a capture offsets count from its start. A replay adds the offset at which it begins, and moves
the generator on by what the whole graph draws. A graph that draws nothing in all, since its state
was put back, is not given a new start: its numbers stay those of the capture (H200, torch 2.11).
"""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakValueDictionary

import torch

from capturelint.debug.dispatched.refusal import NEW_SEED, Refusal, put_back
from capturelint.debug.simulated.generators import (
    STEP,
    DefaultGenerator,
    DeviceGenerator,
)

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator

_OFFSETS = 1 << 64
OUTSIDE = "Offset increment outside graph capture encountered unexpectedly."
_SEED_MASK = (1 << 63) - 1


class DeviceRandom:
    """The state of the device's default generator.

    A position names numbers for good: of a seed and an offset from zero. A replay's positions are
    that at which it starts, plus the offsets that the capture noted.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        # CUDA draws its own first seed; nobody may rely on it.
        self.seed = 0x5EED
        self.offset = 0
        self._generators: WeakValueDictionary[int, DeviceGenerator] = WeakValueDictionary()
        self.default = DefaultGenerator(simulator, seed=self.seed)
        self.add(self.default)

    def take(self, generator: torch.Generator | None = None) -> int:
        """Move on by one operation. Returns its position, or its offset while capturing.

        `generator`: as it was given; None for the default one. Raises RuntimeError if it is the
        host's.
        """
        own = None if generator is None else self.known(generator)
        if own is not None and own is not self.default:
            return position(*own.take())
        capture = self._simulator.capture
        if capture is not None and not self._simulator.is_capturing_here():
            self._simulator.refuse(
                Refusal(OUTSIDE, "random", "a random operation outside the capture")
            )
        if capture is not None and self._simulator.is_capturing:
            offset = capture.drawn
            capture.drawn += STEP
            return offset
        offset = self.offset
        self.offset += STEP
        return position(self.seed, offset)

    def known(self, generator: torch.Generator) -> DeviceGenerator:
        """Return the device's generator behind what an operation was given.

        Torch hands another object for the same generator. Raises RuntimeError for the host's.
        """
        found = self._generators.get(_identity(generator))
        if found is None:
            raise RuntimeError(
                f"Expected a 'cuda' device type for generator but found '{generator.device.type}'"
            )
        return found

    def add(self, generator: DeviceGenerator) -> None:
        """Let a new generator be known for as long as it lives."""
        self._generators[_identity(generator)] = generator

    def replaying(self, total: int, seed: int) -> int:
        """Move on by what one replay draws in all, and return the position that it starts from.

        `seed`: at the capture.
        """
        if total == 0:
            return position(seed, 0)
        start = position(self.seed, self.offset)
        self.offset += total
        return start

    @contextmanager
    def drawing(self, at: int) -> Iterator[None]:
        """Return a context in which torch's host generator draws the numbers of a position."""
        host = torch.default_generator
        before = host.get_state()
        host.manual_seed(_mixed(at))
        try:
            yield
        finally:
            host.set_state(before)

    def set_seed(self, seed: int) -> None:
        """Do what `manual_seed` does: nothing inside a capture, where only the same one passes."""
        simulator = self._simulator
        if simulator.capture is not None and seed != self.seed:
            simulator.refuse(Refusal(NEW_SEED, "random", "torch.cuda.manual_seed", sticky=False))
        elif simulator.capture is not None:
            simulator.refuse(put_back("torch.cuda.manual_seed"))
        if not simulator.is_capturing:
            self.seed, self.offset = seed, 0

    def state(self) -> tuple[int, int]:
        """Return seed and offset; while capturing the offset from the start of the capture."""
        capture = self._simulator.capture
        if capture is not None and self._simulator.is_capturing:
            return self.seed, capture.drawn
        return self.seed, self.offset

    def set_state(self, seed: int, offset: int) -> None:
        """Go to what `state` returned earlier."""
        simulator = self._simulator
        if simulator.capture is not None and seed != self.seed:
            simulator.refuse(Refusal(NEW_SEED, "random", "torch.cuda.set_rng_state", sticky=False))
        elif simulator.capture is not None and offset < self.state()[1]:
            simulator.refuse(put_back("torch.cuda.set_rng_state"))
        if simulator.capture is not None and simulator.is_capturing:
            simulator.capture.drawn = offset
        else:
            self.seed, self.offset = seed, offset


def position(seed: int, offset: int) -> int:
    """Return the number that names an operation's random numbers."""
    return seed * _OFFSETS + offset


def _identity(generator: Any) -> int:
    """Return what stays the same when torch wraps a generator anew."""
    address: int = generator._cdata
    return address


def _mixed(at: int) -> int:
    """Return a seed for the host's generator, far apart for neighbouring positions."""
    seed, offset = divmod(at, _OFFSETS)
    return (seed * 0x9E3779B97F4A7C15 + offset * 0xBF58476D1CE4E5B9 + 12345) & _SEED_MASK
