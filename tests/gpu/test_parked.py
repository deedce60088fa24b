"""What is kept for later takes no memory of the device, and comes back as it was."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.states.state import State
from capturelint.debug.trees.parked import Parked

_LARGE = 8 << 20  # bytes


def _large(dtype: torch.dtype = torch.bfloat16) -> Tensor:
    return torch.randn(_LARGE // dtype.itemsize, device="cuda").to(dtype)


def test_a_parked_tree_takes_no_memory_of_the_device() -> None:
    x = _large()
    before = torch.cuda.memory_allocated()
    kept = Parked({"x": x, "half": x[: x.numel() // 2], "small": x[:8].clone()})
    taken = torch.cuda.memory_allocated() - before

    found = kept.back()

    assert taken <= 2048
    assert [one.device.type for one in found.values()] == ["cuda"] * 3
    assert torch.equal(found["x"], x)
    assert found["x"].data_ptr() == found["half"].data_ptr() != x.data_ptr()


@pytest.mark.filterwarnings("ignore:Synchronization debug mode")  # the first change says so
@pytest.mark.parametrize("mode", ["default", "error"])
def test_moving_it_is_no_wait_of_the_user_s(mode: str) -> None:
    x = _large()
    torch.cuda.set_sync_debug_mode(mode)
    try:
        found = Parked(x).back()

        assert torch.cuda.get_sync_debug_mode() == {"default": 0, "error": 2}[mode]
    finally:
        torch.cuda.set_sync_debug_mode("default")
    assert torch.equal(found, x)


def test_tensors_of_the_host_stay_there() -> None:
    x = torch.zeros(_LARGE)

    assert Parked(x).back().device.type == "cpu"


def test_saved_state_takes_no_memory_of_the_device_and_is_put_back() -> None:
    module = nn.Module()
    module.register_buffer("cache", _large())
    (cache,) = module.buffers()
    expected = cache.clone()
    state = State([module])
    before = torch.cuda.memory_allocated()
    snapshot = state.save()
    taken = torch.cuda.memory_allocated() - before
    cache.zero_()
    state.restore(snapshot)

    assert taken <= 2048
    assert torch.equal(cache, expected)
