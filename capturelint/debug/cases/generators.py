"""Random generators of one input's own, so that its values depend on its seed and name alone."""

from __future__ import annotations

import hashlib

import torch


def generator_of(seed: int, name: str) -> torch.Generator:
    """Return a generator on the CPU for the input `name` of the step with this seed."""
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=7).digest()
    return torch.Generator().manual_seed(int.from_bytes(digest, "big"))
