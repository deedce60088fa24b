"""Autocast casts on the device what it casts on CUDA."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

from tests.unit.debug.simulated.replaying import check_replays, normal

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def test_operators_compute_in_the_dtype_of_their_list(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        linear = nn.Linear(3, 3).cuda()
        x = torch.randn(2, 3).cuda()
        with torch.autocast("cuda", dtype=torch.bfloat16):
            y = linear(x)
            dtypes = {
                "linear": y.dtype,
                "softmax": y.softmax(-1).dtype,
                "sum": y.sum().dtype,
                "norm": y.norm(dim=1).dtype,
                "cat of both": torch.cat([y, x]).dtype,
                "cat of lower": torch.cat([y, y]).dtype,
                "add": (y + 1).dtype,
                "double": (y.double() @ x.double().t()).dtype,
                "on the host": nn.Linear(3, 3)(torch.ones(2, 3)).dtype,
            }
            y.sum().backward()

        assert dtypes == {
            "linear": torch.bfloat16,
            "softmax": torch.float32,
            "sum": torch.float32,
            "norm": torch.float32,
            "cat of both": torch.float32,
            "cat of lower": torch.bfloat16,
            "add": torch.bfloat16,
            "double": torch.float64,
            "on the host": torch.float32,
        }
        assert linear(x).dtype == torch.float32
        assert linear.weight.grad is not None
        assert linear.weight.grad.dtype == torch.float32

    in_session(body)


def test_casts_are_replayed(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        linear = nn.Linear(3, 3).cuda()

        def cast(x: torch.Tensor) -> torch.Tensor:
            with torch.autocast("cuda", dtype=torch.bfloat16):
                result: torch.Tensor = linear(x)
                return result

        check_replays(backend, cast, normal(2, 3))

    in_session(body)
