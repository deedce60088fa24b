"""A runner where there is no GPU, or no torch, and no other backend is given."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

from capturelint import CapturelintError, Case, GraphRunner
from tests.conftest import InFork

CASE = Case(abs, lambda seed, batch_size: (seed, batch_size))


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_without_a_device_it_is_one_line() -> None:
    with pytest.raises(CapturelintError, match="a runner needs a GPU: torch") as raised:
        GraphRunner(CASE, [1])

    assert "\n" not in str(raised.value)
    assert str(raised.value).endswith('`backend="simulated"` tries it without one')


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
@pytest.mark.parametrize("name", ["gpu", "auto", ""])
def test_a_backend_of_another_name_is_one_line(name: str) -> None:
    with pytest.raises(CapturelintError) as raised:
        GraphRunner(CASE, [1], backend=name)

    assert str(raised.value) == f"backend is {name!r}; it must be one of cuda, simulated"


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_simulator_by_name_runs_until_the_runner_is_closed(in_fork: InFork) -> None:
    in_fork(_rows_of_the_simulator)


def _rows_of_the_simulator() -> None:
    import torch
    from torch import nn

    def inputs(seed: int, batch_size: int = 1) -> tuple[torch.Tensor]:
        return (torch.randn(batch_size, 8, generator=torch.Generator().manual_seed(seed)),)

    model = nn.Linear(8, 2).eval()
    with torch.no_grad():
        wanted = model(torch.ones(3, 8))
    with GraphRunner((model, inputs), [1, 4], backend="simulated") as run:
        found = run(torch.ones(3, 8, device="cuda")).cpu()
        with pytest.raises(CapturelintError, match="already open here; close the other runner"):
            GraphRunner((model, inputs), [1], backend="simulated")

    torch.testing.assert_close(found, wanted)


def test_without_torch_it_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("capturelint.debug.cases.requirements.find_spec", lambda _name: None)
    with pytest.raises(CapturelintError, match="GraphRunner needs torch; pip install"):
        GraphRunner(CASE, [1])
