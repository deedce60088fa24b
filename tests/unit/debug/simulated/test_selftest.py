"""A torch whose private parts behave otherwise is refused with one clear line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from capturelint.debug.backend import BackendError
from capturelint.debug.simulated import SimulatedBackend
from capturelint.debug.simulated.tensor import DeviceTensor

if TYPE_CHECKING:
    from tests.conftest import InFork


def test_another_torch_is_named_with_what_fails_and_what_works(
    in_fork: InFork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def body() -> None:
        def fails(*_args: object, **_options: object) -> None:
            raise TypeError("unexpected keyword 'dispatch_device'\nand more")

        monkeypatch.setattr(DeviceTensor, "over", fails)
        with pytest.raises(BackendError) as raised, SimulatedBackend().session():
            pass
        assert str(raised.value) == (
            f"the capture simulator cannot make tensors on the device with torch "
            f"{torch.__version__} (TypeError: unexpected keyword 'dispatch_device'); "
            "use torch 2.11 or 2.13, or a GPU with --backend cuda"
        )

    in_fork(body)


def test_a_fork_of_what_had_a_simulated_device_is_told_so(
    in_fork: InFork, monkeypatch: pytest.MonkeyPatch
) -> None:
    def body() -> None:
        def fails(*_args: object, **_options: object) -> None:
            raise RuntimeError("Unable to handle threading with fork-based multiprocessing.")

        monkeypatch.setattr(DeviceTensor, "over", fails)
        with pytest.raises(
            BackendError, match=r"name the case as FILE\.py:make, or judge it before"
        ):
            SimulatedBackend().session().__enter__()

    in_fork(body)


def test_the_torch_that_is_installed_passes_and_keeps_the_host_s_random_numbers(
    in_fork: InFork,
) -> None:
    def body() -> None:
        torch.manual_seed(3)
        wanted = torch.rand(1)
        torch.manual_seed(3)
        with SimulatedBackend().session():
            assert torch.equal(torch.rand(1), wanted)

    in_fork(body)
