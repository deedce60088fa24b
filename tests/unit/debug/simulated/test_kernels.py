"""Operators whose kernels only CUDA has, or has for a dtype, run on the host all the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN])
def test_recurrent_modules_compute_what_they_do_on_the_host(
    in_session: InSession, kind: Callable[..., nn.Module]
) -> None:
    def body(_: SimulatedBackend) -> None:
        module = kind(4, 4, 2, bidirectional=True)
        x = torch.randn(3, 2, 4)
        wanted = module(x)[0]
        got = module.cuda()(x.cuda())[0]
        torch.testing.assert_close(got.cpu(), wanted)

    in_session(body)


def test_integers_are_counted_though_the_host_only_counts_floats(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        numbers = torch.tensor([0, 1, 1, 3]).cuda()
        counts = torch.histc(numbers, bins=4, min=0, max=3)
        assert (counts.tolist(), counts.dtype) == ([1, 2, 0, 1], torch.int64)

    in_session(body)


@pytest.mark.parametrize("choice", [None, *SDPBackend.__members__.values()])
def test_attention_runs_as_math_whatever_kernel_is_chosen(
    in_session: InSession, choice: SDPBackend | None
) -> None:
    def body(_: SimulatedBackend) -> None:
        q = torch.randn(1, 2, 4, 8, dtype=torch.bfloat16)
        wanted = functional.scaled_dot_product_attention(q, q, q, is_causal=True)
        there = q.cuda()
        if choice is None or choice is SDPBackend.ERROR:
            got = functional.scaled_dot_product_attention(there, there, there, is_causal=True)
        else:
            with sdpa_kernel(choice):
                got = functional.scaled_dot_product_attention(there, there, there, is_causal=True)
        assert got.is_cuda
        torch.testing.assert_close(got.cpu(), wanted, atol=2e-2, rtol=2e-2)

    in_session(body)
