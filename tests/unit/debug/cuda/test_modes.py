"""The modes that see operations, here on matrices of the host that are taken for the device's."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.cuda import modes
from capturelint.debug.cuda.device import CudaDevice
from capturelint.debug.dispatched import launches
from capturelint.debug.dispatched.differ import frozen_values
from capturelint.debug.dispatched.launches import Launches


@pytest.fixture(autouse=True)
def _take_matrices_for_the_devices(monkeypatch: pytest.MonkeyPatch) -> None:
    def is_matrix(value: object) -> bool:
        return isinstance(value, Tensor) and value.dim() == 2

    monkeypatch.setattr(modes, "is_on_device", is_matrix)
    monkeypatch.setattr(launches, "is_on_device", is_matrix)


def _recorded(module: nn.Module, *inputs: Any) -> Launches:
    found = Launches(CudaDevice())
    with modes.RecordingMode(found):
        module(*inputs)
    return found


class Counter(nn.Module):
    n = 0

    def forward(self, x: Tensor) -> Tensor:
        self.n += 1
        return (x @ x) * self.n


class Apart(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        torch.ones(3).sum()
        return nn.functional.linear(x.t(), x, x[0])


def test_two_calls_differ_in_what_a_graph_would_bake_in() -> None:
    x, counter = torch.ones(2, 2), Counter()

    (found,) = frozen_values(_recorded(counter, x), _recorded(counter, x))

    assert (found.operation, found.before, found.after) == ("aten.mul.Tensor", "1", "2")
    assert found.place.line == Counter.forward.__code__.co_firstlineno + 2


def test_the_same_work_on_the_same_memory_bakes_nothing_in() -> None:
    x, module = torch.ones(2, 2), Apart()

    assert frozen_values(_recorded(module, x), _recorded(module, x)) == ()


@pytest.mark.parametrize("inference", [False, True])
def test_neither_views_nor_work_of_the_host_are_launched(inference: bool) -> None:
    with torch.inference_mode(inference):
        found = _recorded(Apart(), torch.ones(2, 2))

    assert [one.operation for one in found.items] == ["aten.addmm.default"]
