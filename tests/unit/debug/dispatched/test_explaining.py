"""Which function of torch read on the host, as a report calls it, and the rule about that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession

READ = "aten._local_scalar_dense.default"


def told(backend: SimulatedBackend, call: Callable[[], object]) -> set[tuple[str, str]]:
    """Return operation and rule of each hazard of a call."""
    with backend.as_if_capturing(lambda: "") as hazards:
        call()
    return {(one.operation, one.code) for one in hazards}


def test_a_batch_norm_that_counts_batches_reads_its_counter(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        counting, other = (nn.BatchNorm1d(3, momentum=one).cuda() for one in (None, 0.1))
        x = torch.randn(4, 3, device="cuda")

        wanted = {(f"{READ} in a batch norm of torch", "CL101")}
        assert told(backend, lambda: counting(x)) == wanted
        assert told(backend, lambda: other(x)) == set()

    in_session(body)


def test_a_norm_that_raises_is_read_by_its_clipping(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        weight = nn.Parameter(torch.ones(3, device="cuda"))
        weight.grad = torch.ones(3, device="cuda")

        def clip(*, raises: bool) -> object:
            return nn.utils.clip_grad_norm_([weight], 1.0, error_if_nonfinite=raises)

        wanted = {(f"{READ} in torch.nn.utils.clip_grad_norm_", "CL402")}
        assert told(backend, lambda: clip(raises=True)) == wanted
        assert told(backend, lambda: clip(raises=False)) == set()

    in_session(body)


def test_a_scaler_reads_for_an_optimizer_that_is_not_fused(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        weight = nn.Parameter(torch.ones(3, device="cuda"))
        scaler = torch.amp.GradScaler("cuda")
        optimizer = torch.optim.SGD([weight], 0.1)
        torch.autograd.backward(scaler.scale(weight.sum()))

        wanted = {(f"{READ} in torch.amp.GradScaler.step", "CL802")}
        assert told(backend, lambda: scaler.step(optimizer)) == wanted

    in_session(body)
