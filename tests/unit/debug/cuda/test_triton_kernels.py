"""Launches of kernels in Triton are recorded with their arguments."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest
import torch

from capturelint.debug.cuda.device import CudaDevice
from capturelint.debug.cuda.triton_kernels import kernels_recorded
from capturelint.debug.dispatched.differ import frozen_values
from capturelint.debug.dispatched.launches import Launches


def _add() -> None: ...


class JITFunction:
    """As much of Triton's as a launch needs."""

    fn = _add

    def run(self, *args: Any, grid: Any, warmup: bool, **kwargs: Any) -> str:
        return f"ran {len(args)} {len(kwargs)} {grid} {warmup}"


@pytest.fixture(autouse=True)
def _triton(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("triton.runtime.jit")
    vars(module)["JITFunction"] = JITFunction
    monkeypatch.setitem(sys.modules, "triton.runtime.jit", module)


def _recorded(number: float, *, warmup: bool = False) -> Launches:
    launches = Launches(CudaDevice())
    with kernels_recorded(launches):
        JITFunction().run(torch.ones(1), number, grid=(1,), warmup=warmup, B=128)
    return launches


def test_a_number_that_changes_is_told_at_the_line_that_launches() -> None:
    (frozen,) = frozen_values(_recorded(1.0), _recorded(2.0))

    assert (frozen.operation, frozen.before, frozen.after) == ("triton _add", "1.0", "2.0")
    assert frozen.place.line == _recorded.__code__.co_firstlineno + 3


def test_equal_launches_bake_nothing_in_and_warming_a_kernel_up_is_none() -> None:
    assert frozen_values(_recorded(1.0), _recorded(1.0)) == ()
    assert _recorded(1.0, warmup=True).items == []


def test_triton_is_as_before_also_after_an_error() -> None:
    before = JITFunction.run
    with pytest.raises(KeyError), kernels_recorded(Launches(CudaDevice())):
        raise KeyError

    assert JITFunction.run is before
