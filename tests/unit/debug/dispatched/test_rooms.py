"""Which operations read memory that was made without content."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


@pytest.mark.parametrize(
    ("code", "read"),
    [
        ("room + 1", True),
        ("room.add_(1)", True),
        ("room.copy_(x)", False),
        ("room[:1] = 1", False),
        ("room.zero_(); room + 1", False),
        ("torch.mul(x, 2, out=room)", False),
        ("torch.mul(room, 2, out=x)", True),
        ("x.copy_(room)", True),
        ("room.masked_fill_(x > 0, 1.0)", False),
        ("x + 1", False),
    ],
)
def test_the_first_use_tells(in_session: InSession, code: str, *, read: bool) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(2, 4, device="cuda")
        names: dict[str, Any] = {"x": x, "torch": torch}
        with backend.recording() as recording:
            names["room"] = torch.empty(2, 4, device="cuda")
            exec(code, names)
        rooms = backend.launched(recording).rooms

        assert (len(rooms.made), bool(rooms.read)) == (1, read)

    in_session(body)
