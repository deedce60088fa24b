"""Which lines are seen to read addresses."""

from __future__ import annotations

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
