"""Code of float32 run in float64, in which sums in another order come to nearly the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import torch
from torch import Tensor
from torch.utils import _pytree as pytree  # trees of torch's own, the same since 1.8

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.attempts.part import Call
from capturelint.debug.attempts.reachable import reachable
from capturelint.rewrite.proof.grouped import GroupedInFloat64

# How far float32 may be apart for float64 to decide. Less than what one rounding to float16 makes of
# most numbers: in float64 autocast rounds nothing, so that this would not be seen.
NEAR = Tolerance(rtol=2e-4)
CLOSE = Tolerance(rtol=1e-9, atol=1e-12)


def widened_calls(calls: Sequence[Call]) -> tuple[Call, ...]:
    """Return calls with copies of their tensors, those of float32 in float64."""
    found = []
    for call in (one.copied() for one in calls):
        args, kwargs = pytree.tree_map(_widened, (call.args, dict(call.kwargs)))
        found.append(replace(call, args=args, kwargs=kwargs))
    return tuple(found)


@contextmanager
def widened(run: Callable[..., object]) -> Iterator[None]:
    """Let the parameters and buffers that `run` reaches be of float64 inside, those of float32."""
    held = {
        id(one): one
        for module in reachable(run).values()
        for one in (*module.parameters(recurse=False), *module.buffers(recurse=False))
        if one.dtype is torch.float32
    }
    before = [(one, one.data) for one in held.values()]
    try:
        for one, data in before:
            one.data = data.double()
        with GroupedInFloat64():
            yield
    finally:
        for one, data in before:
            one.data = data


def _widened(value: object) -> object:
    if not isinstance(value, Tensor) or value.dtype is not torch.float32:
        return value
    return value.detach().double().requires_grad_(value.requires_grad)
