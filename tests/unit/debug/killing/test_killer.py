"""What kills under a graph only is named, with its module, line and operation."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from capturelint.debug.cases.case import Case
from capturelint.debug.engine import judge
from capturelint.debug.events import Event, Started
from capturelint.debug.settings import Settings
from capturelint.report.bisect_words import certainty
from capturelint.verdict import Report, Verdict

if TYPE_CHECKING:
    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession

ROWS = 4


def inputs(seed: int) -> Tensor:
    return torch.randn(2, ROWS, generator=torch.Generator().manual_seed(seed))


class Gathers(nn.Module):
    """Reads a row whose number is good in each eager call, in other memory than before."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(ROWS, ROWS))
        self.row = torch.zeros(2, dtype=torch.int64)

    def forward(self, x: Tensor) -> Tensor:
        scaled = x * 2
        rows = self.table[self.row]  # gathers
        return scaled + rows


class Above(nn.Module):
    def __init__(self, gathers: nn.Module) -> None:
        super().__init__()
        self.first = nn.Linear(ROWS, ROWS)
        self.gathers = gathers
        self.last = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.last(self.gathers(self.first(x)))
        return y


class Between(Gathers):
    """Has called modules before and after the line that gathers."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(ROWS, ROWS)
        self.last = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        y = self.first(x)
        rows = self.table.index_select(0, self.row)  # selects
        z: Tensor = self.last(y + rows)
        return z


def make() -> Case:
    gathers = Gathers()
    return case_of(nn.Sequential(Above(nn.Identity()), Above(gathers)), gathers)


def case_of(model: nn.Module, gathers: Gathers) -> Case:
    buffers = [torch.zeros(2, dtype=torch.int64, device="cuda") for _ in range(2)]

    def prepare(step: int) -> None:
        buffers[(step + 1) % 2].fill_(1000)  # as what takes over freed memory does
        gathers.row = buffers[step % 2].fill_(step % ROWS)

    return Case(model, inputs, prepare=prepare)


def judged(backend: Backend, load: Callable[[], Case], heard: list[Event], **known: Any) -> Report:
    return judge(load, backend, Settings(replays=3), known=known, emit=heard.append)


def test_an_index_that_is_out_of_range_in_replays_only_is_named(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        heard: list[Event] = []
        report = judged(backend, make, heard)
        (culprit,) = report.culprits

        assert report.verdict is Verdict.STALE
        assert culprit.place is not None
        assert culprit.place.source == "rows = self.table[self.row]  # gathers"
        assert (culprit.module, culprit.operation) == ("1.gathers", "aten.index.Tensor")
        assert culprit.message.startswith("replay 2 kills the device, as eager calls do not")
        assert "device-side assert" in culprit.message
        assert certainty(culprit).startswith("seen: replayed up to this line it dies")
        (frozen,) = culprit.evidence.frozen
        assert (frozen.name, frozen.operation) == ("self.row", "aten.index.Tensor")
        assert frozen.cause is not None
        assert "gathers.row = buffers" in frozen.cause.source
        steps = [one.step for one in heard if isinstance(one, Started)]
        assert "beginning 1.gathers call 0 line 1" in steps
        assert len(set(steps)) == len(steps)

    in_session(body)


def test_a_line_between_called_modules_is_named(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        model = Between()
        report = judged(backend, lambda: case_of(Above(model), model), [])
        (culprit,) = report.culprits

        assert culprit.place is not None
        assert culprit.place.source.endswith("# selects")
        assert (culprit.module, culprit.operation) == ("gathers", "aten.index_select.default")

    in_session(body)


class Hidden(nn.Module):
    """Is torch's alone: it runs no line of the user's."""

    def __init__(self, gathers: Gathers) -> None:
        super().__init__()
        self.embed = nn.Embedding(ROWS, ROWS)
        self.held = gathers

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = x + self.embed(self.held.row)  # embeds
        return y


def test_of_a_module_of_torch_the_line_that_calls_it_is_named(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        gathers = Gathers()
        report = judged(backend, lambda: case_of(Hidden(gathers), gathers), [])
        (culprit,) = report.culprits

        assert report.verdict is Verdict.STALE
        # Alone it is given its numbers as an input, and passes.
        assert {one.path: one.verdict for one in report.modules}["embed"] is Verdict.EQUAL
        assert culprit.module == "embed"
        assert culprit.place is not None
        assert culprit.place.source.endswith("# embeds")
        assert culprit.operation == "aten.embedding.default"

    in_session(body)


class Catches(Gathers):
    """Handles all exceptions, and not what stops a beginning of it."""

    def forward(self, x: Tensor) -> Tensor:
        try:
            return super().forward(x)
        except Exception:  # noqa: BLE001 - as a model may
            return x + self.table[self.row]


def test_code_that_handles_all_exceptions_does_not_go_on_after_a_cut(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        catches = Catches()
        report = judged(backend, lambda: case_of(Above(catches), catches), [])
        (culprit,) = report.culprits

        assert culprit.place is not None
        assert culprit.place.source.endswith("# gathers")

    in_session(body)
