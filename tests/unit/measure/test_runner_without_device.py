"""A runner where there is no GPU, or no torch, and no other backend is given."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from capturelint import CapturelintError, Case, GraphRunner

CASE = Case(abs, lambda seed, batch_size: (seed, batch_size))


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_without_a_device_it_is_one_line() -> None:
    with pytest.raises(CapturelintError, match="a runner needs a GPU: torch") as raised:
        GraphRunner(CASE, [1])

    assert "\n" not in str(raised.value)


def test_without_torch_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capturelint.debug.cases.requirements.find_spec", lambda _name: None)
    with pytest.raises(CapturelintError, match="GraphRunner needs torch; pip install"):
        GraphRunner(CASE, [1])
