"""Norms on the device, in every mode and layout: kernels of cuDNN in one build, of the host here."""

from __future__ import annotations

import copy
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from tests.unit.debug.simulated.replaying import check_replays, host, normal

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession

NORMS: dict[str, Callable[[], nn.Module]] = {
    "training": lambda: nn.BatchNorm2d(3),
    "eval": lambda: nn.BatchNorm2d(3).eval(),
    "without statistics": lambda: nn.BatchNorm2d(3, track_running_stats=False),
    "without weights": lambda: nn.BatchNorm2d(3, affine=False),
    "instance": lambda: nn.InstanceNorm2d(3, affine=True, track_running_stats=True),
    "group": lambda: nn.GroupNorm(3, 3),
    "synchronized, eval": lambda: nn.SyncBatchNorm(3).eval(),
}


@pytest.mark.parametrize("name", NORMS)
def test_norms_compute_what_the_host_computes(in_session: InSession, name: str) -> None:
    def body(_: SimulatedBackend) -> None:
        here = NORMS[name]()
        there = copy.deepcopy(here).cuda()
        for form in (torch.contiguous_format, torch.channels_last):
            x = torch.randn(2, 3, 4, 4).to(memory_format=form)
            y = x.cuda().requires_grad_()
            wanted, got = here(x.requires_grad_()), there(y)
            wanted.square().sum().backward()
            got.square().sum().backward()
            assert x.grad is not None
            assert y.grad is not None
            torch.testing.assert_close((got.cpu(), y.grad.cpu()), (wanted, x.grad))
            torch.testing.assert_close(_state(there), _state(here))

    in_session(body)


@pytest.mark.parametrize("name", NORMS)
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad, torch.inference_mode])
def test_norms_replay_in_every_mode(
    in_session: InSession, name: str, mode: type[AbstractContextManager[None]]
) -> None:
    def body(backend: SimulatedBackend) -> None:
        norm = NORMS[name]().cuda()
        with mode():
            check_replays(backend, norm, normal(2, 3, 4, 4))
            check_replays(backend, norm.half(), lambda seed: (normal(2, 3, 4, 4)(seed)[0].half(),))

    in_session(body)


def _state(norm: nn.Module) -> list[torch.Tensor]:
    """Return the statistics, weights and gradients of a norm on the host."""
    gradients = [one.grad for one in norm.parameters() if one.grad is not None]
    return host([*norm.buffers(), *norm.parameters(), *gradients])
