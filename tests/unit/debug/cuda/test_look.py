"""Which operation made the host wait, told from what ran on the line of the warning."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from capturelint.debug.cuda import look as look_module
from capturelint.debug.cuda.device import CudaDevice
from capturelint.debug.cuda.look import SYNCHRONIZING, Look
from capturelint.debug.cuda.modes import LookingMode
from capturelint.debug.cuda.order import Order
from capturelint.debug.dispatched.hazards import Hazards

BASE = 7


@pytest.fixture
def look(monkeypatch: pytest.MonkeyPatch) -> Look:
    """Return a look that takes matrices of the host for the device's, on the stream it began on."""
    made = Look(Hazards(lambda: "layer"), CudaDevice(), Order(BASE), "global")

    def is_matrix(value: object) -> bool:
        return isinstance(value, Tensor) and value.dim() == 2

    monkeypatch.setattr(look_module, "is_on_device", is_matrix)
    monkeypatch.setattr(made, "current", lambda: BASE)
    return made


def _listed(look: Look) -> list[tuple[str, str, int]]:
    return [(one.module, one.operation, one.calls) for one in look.hazards.listed()]


def test_the_last_operation_of_the_line_is_named(look: Look) -> None:
    x = torch.ones(2, 2)
    with LookingMode(look):
        x.exp()
        x.t().sin(), look.waited()  # type: ignore[func-returns-value]  # on one line

    assert _listed(look) == [("layer", "aten.sin.default", 1)]


def test_a_call_that_waits_twice_is_listed_once_and_its_next_turn_again(look: Look) -> None:
    x = torch.ones(2, 2)
    with LookingMode(look):
        for _ in range(3):
            x.sin(), look.waited(), look.waited()  # type: ignore[func-returns-value]  # on one line

    assert _listed(look) == [("layer", "aten.sin.default", 3)]


def test_a_wait_on_a_line_where_nothing_was_seen_has_no_name(look: Look) -> None:
    with LookingMode(look):
        torch.ones(2, 2).sin()
        look.waited()

    assert _listed(look) == [("layer", SYNCHRONIZING, 1)]


def test_work_of_the_host_is_not_looked_at(look: Look) -> None:
    with LookingMode(look):
        torch.ones(2).sin(), look.waited()  # type: ignore[func-returns-value]  # on one line

    assert _listed(look) == [("layer", SYNCHRONIZING, 1)]


def test_work_on_a_stream_that_did_not_join_is_listed(
    look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "current", lambda: 0)
    with LookingMode(look):
        torch.ones(2, 2).sin()

    assert _listed(look) == [("layer", "aten.sin.default on the default stream", 1)]


def test_what_only_makes_room_or_tells_the_allocator_is_no_work(
    look: Look, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look, "current", lambda: 0)
    with LookingMode(look):
        torch.empty_like(torch.ones(2, 2))

    assert _listed(look) == []


@pytest.mark.parametrize(
    ("home", "stream", "operations"),
    [
        (0, 0, ["aten.sin.default on another device"]),
        (0, BASE, []),  # its stream has joined
        (1, 0, []),
        (None, 0, []),
    ],
)
def test_work_on_another_device_is_listed(
    monkeypatch: pytest.MonkeyPatch, home: int | None, stream: int, operations: list[str]
) -> None:
    made = Look(Hazards(lambda: "layer"), CudaDevice(), Order(BASE), "global", home=home)
    monkeypatch.setattr(made, "current", lambda: BASE)
    monkeypatch.setattr(look_module, "is_on_device", lambda value: isinstance(value, Tensor))
    monkeypatch.setattr(look_module, "ordinal_of", lambda _: 1)
    monkeypatch.setattr(look_module, "stream_of", lambda _: stream)
    x = torch.ones(2, 2)
    with LookingMode(made):
        x.t().sin()

    assert [operation for _, operation, _ in _listed(made)] == operations
