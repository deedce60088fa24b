"""Seed every generator that code is likely to draw from."""

from __future__ import annotations

import random

import torch


def seed_all(seed: int) -> None:
    """Seed Python's, numpy's and torch's generators, on the host and on the device."""
    random.seed(seed)
    # `torch.manual_seed` also notes a stack for each kind of device that was never used.
    torch.default_generator.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
    _seed_numpy(seed)


def _seed_numpy(seed: int) -> None:
    try:
        import numpy as np
    except ImportError:
        return
    np.random.seed(seed % 2**32)
