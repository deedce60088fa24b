"""Generators of the device: their state is a seed and an offset, and a capture allows little."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Any

import torch
from typing_extensions import Self

from capturelint.debug.dispatched.refusal import NEW_SEED, Refusal
from capturelint.debug.simulated.device import CUDA

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator

# What one operation moves the offset by, whatever it draws.
STEP = 4
# Of a generator that was not seeded, as torch has it.
FIRST_SEED = 67280421310721


class DeviceGenerator(torch.Generator):
    """A generator of `cuda:0` that user code made.

    `seed_now`, `offset`: what its numbers follow from.
    """

    simulator: Simulator
    seed_now: int
    offset: int

    def __new__(cls, simulator: Simulator, *, seed: int, offset: int = 0) -> Self:  # noqa: ARG004
        return super().__new__(cls)

    def __init__(self, simulator: Simulator, *, seed: int, offset: int = 0) -> None:
        self.simulator = simulator
        self.seed_now = seed
        self.offset = offset

    @staticmethod
    def of(simulator: Simulator) -> DeviceGenerator:
        """Return a new one. While capturing CUDA refuses that."""
        simulator.refuse(_forbidden("construct a new CUDAGeneratorImpl", "torch.Generator"))
        return _known(simulator, FIRST_SEED, 0)

    @property
    def device(self) -> torch.device:  # type: ignore[override]  # torch declares a variable
        return CUDA

    def take(self) -> tuple[int, int]:
        """Move on by one operation. Returns the seed and offset of its numbers."""
        offset = self.offset
        self.offset += STEP
        return self.seed_now, offset

    def manual_seed(self, seed: int) -> DeviceGenerator:
        simulator = self.simulator
        if simulator.capture is not None and seed != self.seed_now:
            operation = "torch.Generator.manual_seed"
            simulator.refuse(Refusal(NEW_SEED, "random", operation, sticky=False))
        if not simulator.is_capturing:
            self.set_to(int(seed), 0)
        return self

    def seed(self) -> int:
        self._refuse("seed")
        self.manual_seed(secrets.randbits(52))
        return self.initial_seed()

    def initial_seed(self) -> int:
        return self.read()[0]

    def get_offset(self) -> int:
        self._refuse("get_offset")
        return self.read()[1]

    def set_offset(self, offset: int) -> DeviceGenerator:
        self._refuse("set_offset")
        self.set_to(self.read()[0], offset)
        return self

    def get_state(self) -> torch.Tensor:
        with torch._C._DisableTorchDispatch():  # noqa: SLF001 - a host tensor, whatever is on
            return torch.tensor(self.read(), dtype=torch.int64).view(torch.uint8)

    def set_state(self, new_state: torch.Tensor) -> DeviceGenerator:
        with torch._C._DisableTorchDispatch():  # noqa: SLF001 - a host tensor, whatever is on
            seed, offset = new_state.clone().view(torch.int64).tolist()
        self.set_to(seed, offset)
        return self

    def clone_state(self) -> DeviceGenerator:
        self._refuse("clone_impl")
        return _known(self.simulator, *self.read())

    def graphsafe_get_state(self) -> DeviceGenerator:
        return _known(self.simulator, *self.read())

    def graphsafe_set_state(self, state: DeviceGenerator) -> DeviceGenerator:  # type: ignore[override]
        self.set_to(*state.read())
        return self

    def read(self) -> tuple[int, int]:
        """Return seed and offset."""
        return self.seed_now, self.offset

    def set_to(self, seed: int, offset: int) -> None:
        """Go to a seed and an offset."""
        self.seed_now, self.offset = seed, offset

    def _refuse(self, method: str) -> None:
        call = f"call CUDAGeneratorImpl::{method}"
        self.simulator.refuse(_forbidden(call, f"torch.Generator.{method}"))

    def __deepcopy__(self, memo: dict[int, Any]) -> DeviceGenerator:
        memo[id(self)] = twin = _known(self.simulator, *self.read())
        return twin


class DefaultGenerator(DeviceGenerator):
    """The device's default generator: its state is that of the simulator's random numbers."""

    def manual_seed(self, seed: int) -> DeviceGenerator:
        self.simulator.random.set_seed(int(seed))
        return self

    def read(self) -> tuple[int, int]:
        return self.simulator.random.state()

    def set_to(self, seed: int, offset: int) -> None:
        self.simulator.random.set_state(seed, offset)


def _known(simulator: Simulator, seed: int, offset: int) -> DeviceGenerator:
    """Return a new generator that operations are known to be given."""
    generator = DeviceGenerator(simulator, seed=seed, offset=offset)
    simulator.random.add(generator)
    return generator


def _forbidden(call: str, operation: str) -> Refusal:
    text = (
        f"Cannot {call} during CUDA graph capture. If you need this call to be captured, "
        "please file an issue for PyTorch."
    )
    return Refusal(text, "random", operation, sticky=False)
