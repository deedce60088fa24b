"""Which tensors are seen to be written. In host memory, which stands for the device."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.attempts import observed
from capturelint.debug.attempts.observed import Observed
from capturelint.debug.states import held
from capturelint.debug.states.held import Held
from capturelint.debug.states.state import State


@pytest.fixture(autouse=True)
def _host_is_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "is_host", lambda _tensor: False)


def _observed(run: object) -> Observed:
    return Observed(run, Held())


class Model(nn.Module):
    acc: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(1, 1)
        self.norm = nn.BatchNorm1d(1)
        self.register_buffer("acc", torch.zeros(1))


def _write_in_place(model: Model) -> None:
    model.acc.add_(1)


def _bind_anew(model: Model) -> None:
    model.acc = model.acc + 1


def _swap_memory(model: Model) -> None:
    model.linear.weight.data = torch.ones(1, 1)


def _normalize(model: Model) -> None:
    model.norm(torch.ones(2, 1))


def _backward(model: Model) -> None:
    model.linear(torch.ones(1, 1)).sum().backward()


def _look(model: Model) -> None:
    model.linear(model.acc)


# Batch norms always count as written, because nothing tells when they are.
_ALWAYS = {"norm.running_mean", "norm.running_var"}


@pytest.mark.parametrize(
    ("act", "written"),
    [
        (_write_in_place, {"acc"}),
        (_bind_anew, {"acc"}),
        (_swap_memory, {"linear.weight"}),
        (_normalize, {"norm.num_batches_tracked"}),
        (_backward, {"linear.weight.grad", "linear.bias.grad"}),
        (_look, set()),
    ],
)
def test_what_was_written_is_told(act: Callable[[Model], None], written: set[str]) -> None:
    model = Model()
    seals = _observed(model).seals()
    act(model)

    assert _observed(model).written(seals).keys() == written | _ALWAYS


def test_what_was_written_is_copied() -> None:
    model = Model()
    seen = _observed(model)
    seals = seen.seals()
    model.acc.fill_(3.0)
    written = seen.written(seals)
    model.acc.fill_(4.0)

    assert float(written["acc"].back()) == 3.0
    assert float(seen.tensors()["acc"]) == 4.0


def test_a_function_shows_the_modules_it_holds() -> None:
    model = nn.Linear(1, 1)

    def step(x: Tensor) -> Tensor:
        found: Tensor = model(x)
        return found

    assert list(_observed(step).tensors()) == ["model.weight", "model.bias"]
    assert _observed(step).buffers() == {}


def test_what_lies_in_host_memory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observed, "is_host", lambda _tensor: True)

    assert _observed(Model()).tensors() == {}


def test_what_is_held_is_seen_beside_what_is_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "is_host", lambda _tensor: False)
    model = Model()
    rows, extra = torch.zeros(1), torch.zeros(1)
    model.kept = {"rows": rows, "weights": [model.linear.weight]}  # type: ignore[assignment]
    state = State([model], extra=[rows, extra])
    seen = Observed(model, state.held(state.save()))
    seals = seen.seals()
    rows.add_(1)
    extra.add_(1)

    assert seen.written(seals).keys() == {"kept['rows']", "state[1]"} | _ALWAYS


def test_what_was_exchanged_is_told_by_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "is_host", lambda _tensor: False)
    kept = {"rows": torch.zeros(1)}

    def step() -> None:
        kept["rows"] = torch.ones(1)

    state = State([step])
    seen = Observed(step, state.held(state.save()))
    seals = seen.seals()
    step()

    (parked,) = seen.written(seals).items()

    assert (parked[0], parked[1].back()) == ("nonlocal kept of step['rows']", torch.ones(1))
