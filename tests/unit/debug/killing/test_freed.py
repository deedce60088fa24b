"""The line that frees what a graph dies of is told where no change of state tells it."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor

from capturelint.debug.cases.case import Case
from capturelint.verdict import Place
from tests.unit.debug.killing.test_killer import ROWS, Gathers, inputs, judged

if TYPE_CHECKING:
    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession

HIDDEN: SimpleQueue[Tensor] = SimpleQueue()  # whose contents nothing can list


class ReadsElsewhere(Gathers):
    """Reads its row from where no change of it is seen."""

    def forward(self, x: Tensor) -> Tensor:
        row = HIDDEN.get()
        HIDDEN.put(row)
        rows = self.table[row]  # gathers
        return x * 2 + rows


def test_the_line_that_frees_what_kills_is_told_where_no_change_tells_it(
    in_session: InSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def body(backend: Backend) -> None:
        asked: list[tuple[str, int]] = []

        def freed(call: Callable[[], object], after: Callable[[], object], line: Any) -> Place:
            call()
            after()
            asked.append(line)
            return Place("model.py", 7)

        monkeypatch.setattr(backend, "freed", freed)
        buffers = [torch.zeros(2, dtype=torch.int64, device="cuda") for _ in range(2)]

        def prepare(step: int) -> None:
            buffers[(step + 1) % 2].fill_(1000)
            while not HIDDEN.empty():
                HIDDEN.get()
            HIDDEN.put(buffers[step % 2].fill_(step % ROWS))

        report = judged(backend, lambda: Case(ReadsElsewhere(), inputs, prepare=prepare), [])
        (culprit,) = report.culprits

        assert culprit.place is not None
        assert culprit.place.source.endswith("# gathers")
        assert [number for _, number in asked] == [culprit.place.line]
        assert [one.cause for one in culprit.evidence.frozen] == [Place("model.py", 7)]
        assert culprit.evidence.changes[-1].endswith("is freed between calls, at model.py:7")

    in_session(body)
