"""The host's random number generators: their states, put back, and whether they moved."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch.utils._mode_utils import no_dispatch

# The name under the simulator is another class.
_TorchGenerator = torch.Generator


@dataclass(frozen=True, slots=True)
class Generator:
    """One generator on the host. `name`: as a report calls it, or "" for a user's own."""

    name: str
    state: Callable[[], Any]
    set_state: Callable[[Any], None]


def global_generators() -> tuple[Generator, ...]:
    """Return Python's, numpy's where it is imported, and torch's."""
    found = [Generator("random", random.getstate, random.setstate)]
    if "numpy" in sys.modules:
        numpy = import_module("numpy.random")  # numpy itself imports it at the first draw
        found.append(Generator("numpy.random", numpy.get_state, numpy.set_state))
    host = torch.default_generator
    found.append(Generator("torch CPU generator", host.get_state, _setter(host)))
    return tuple(found)


def is_generator(cls: type) -> bool:
    """Return whether instances of `cls` draw random numbers."""
    if issubclass(cls, random.SystemRandom):  # has no state: the system draws
        return False
    if issubclass(cls, (random.Random, _TorchGenerator)):
        return True
    numpy = sys.modules.get("numpy.random")
    return numpy is not None and issubclass(cls, (numpy.RandomState, numpy.Generator))


def generator_of(value: Any) -> Generator | None:
    """Return what reads and sets the state of a generator, None for one of a device."""
    if isinstance(value, _TorchGenerator):
        is_host = value.device.type == "cpu"
        return Generator("", value.get_state, _setter(value)) if is_host else None
    if isinstance(value, random.Random):
        return Generator("", value.getstate, value.setstate)
    if hasattr(value, "bit_generator"):  # numpy's newer kind
        bits = value.bit_generator
        return Generator("", lambda: bits.state, partial(setattr, bits, "state"))
    return Generator("", value.get_state, value.set_state)


def _setter(generator: torch.Generator) -> Callable[[Any], None]:
    def set_state(state: Any) -> None:
        generator.set_state(state)

    return set_state


def is_same_state(one: Any, other: Any) -> bool:
    """Return whether a generator with these two states has drawn nothing between them."""
    if isinstance(one, Tensor):
        with no_dispatch():
            return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(
            is_same_state(one[key], other[key]) for key in one
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(is_same_state, one, other))
    return bool((one == other) if not hasattr(one, "tobytes") else one.tobytes() == other.tobytes())
