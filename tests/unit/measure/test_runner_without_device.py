"""A runner where there is no GPU and no other backend is given."""

from __future__ import annotations

import pytest

from capturelint import CapturelintError, GraphRunner


def test_without_a_device_it_is_one_line() -> None:
    with pytest.raises(CapturelintError, match="a runner needs a GPU: torch") as raised:
        GraphRunner((abs, lambda seed, batch_size: (batch_size,)), [1])

    assert "\n" not in str(raised.value)
