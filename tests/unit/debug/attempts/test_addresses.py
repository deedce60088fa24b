"""Which lines are seen to read addresses."""

from __future__ import annotations

from typing import Any

import torch

from capturelint.debug.attempts.addresses import addresses_read


def test_the_users_lines_that_read_an_address_are_listed() -> None:
    x = torch.ones(1)
    with addresses_read() as found:
        address = x.data_ptr()
        torch.nn.Parameter(x).data_ptr()
    x.data_ptr()

    assert [number for _, number in found] == [address, address]
    assert [place.function.rpartition(".")[2] for place, _ in found] == [
        "test_the_users_lines_that_read_an_address_are_listed"
    ] * 2
    assert "data_ptr" not in vars(torch.Tensor)


def test_addresses_that_a_launcher_of_kernels_passes_on_are_not_the_users() -> None:
    launcher = compile(
        "def launch(x):\n    return x.data_ptr()", "/lib/triton/runtime/jit.py", "exec"
    )
    names: dict[str, Any] = {}
    exec(launcher, names)
    with addresses_read() as found:
        names["launch"](torch.ones(1))

    assert found == []
