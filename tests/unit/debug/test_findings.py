"""What a report says of changes outside the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from capturelint.debug.cases.case import Case
from capturelint.debug.engine import judge
from capturelint.debug.settings import Settings

if TYPE_CHECKING:
    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession


class Steps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.count += 1
        return x * 2


@pytest.mark.parametrize("soak", [0, 4])
def test_more_steps_are_advised_where_none_ran(soak: int, in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def load() -> Case:
            return Case(Steps(), lambda seed: (torch.full((2,), float(seed)),))

        settings = Settings(replays=1, soak=soak)
        report = judge(load, backend, settings, known={}, emit=lambda _: None)
        (note,) = [one for one in report.notes if "each call changes count" in one]

        assert note.endswith("; `--soak N` runs more") == (not soak)

    in_session(body)
