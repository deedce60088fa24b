"""What kills the device or the process is found by fresh processes, each of which knows the last one's end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from torch import Tensor, nn

from capturelint.debug.backend import Backend, Captured, ReplayKillsError, SpentError, Unowned
from capturelint.debug.cases.case import Case
from capturelint.debug.processes.supervised import run_live
from capturelint.debug.processes.worker import Tools
from capturelint.debug.settings import Settings
from capturelint.debug.simulated.backend import SimulatedBackend, SimulatedGraph
from capturelint.verdict import Report, Verdict
from tests.unit.debug.killing.test_killer import inputs, make

SETTINGS = Settings(backend="simulated", replays=2)


class Mortal:
    """A graph whose replay kills for good what it would kill on a device."""

    def __init__(self, graph: Captured, kill: Callable[[str], None]) -> None:
        self.output = graph.output
        self.is_empty = graph.is_empty
        self._graph = graph
        self._kill = kill

    def replay(self) -> None:
        try:
            self._graph.replay()
        except ReplayKillsError as error:
            self._kill(str(error))
            raise RuntimeError("CUDA error: unspecified launch failure") from None

    def unowned(self) -> Unowned | None:
        return self._graph.unowned()

    def close(self) -> None:
        self._graph.close()


class MortalBackend(SimulatedBackend):
    """A device that is lost to its process once a replay has killed it, or ends the process."""

    def __init__(self, number: int | None) -> None:
        super().__init__()
        self._number = number
        self._why = ""

    def capture(self, call: Callable[[], object]) -> Captured:  # type: ignore[override] # wraps it
        return Mortal(super().capture(call), self._kill)

    def spent(self) -> str:
        return self._why

    def _kill(self, why: str) -> None:
        if self._number is not None:
            os.kill(os.getpid(), self._number)
        self._why = f"the device is lost: {why}"


def _judged(number: int | None, starts: list[str]) -> Report:
    def choose(_: Settings) -> tuple[Backend, tuple[str, ...]]:
        return MortalBackend(number), ()

    def hear(text: str) -> None:
        if text == "importing torch":
            starts.append(text)

    return run_live(make, SETTINGS, case="case", tools=Tools(choose=choose), progress=hear)


@pytest.mark.parametrize("number", [None, signal.SIGSEGV], ids=["lost", "crashed"])
def test_the_line_that_kills_is_named_by_few_processes(number: int | None) -> None:
    starts: list[str] = []
    report = _judged(number, starts)
    (culprit,) = report.culprits

    assert (report.verdict, culprit.module) == (Verdict.STALE, "1.gathers")
    assert culprit.place is not None
    assert culprit.place.source == "rows = self.table[self.row]  # gathers"
    assert culprit.operation == "aten.index.Tensor"
    # The whole, the layer and the module; its line, and the operation in it.
    assert len(starts) <= 7


def test_a_kill_from_outside_stays_undecided() -> None:
    report = _judged(signal.SIGKILL, [])

    assert report.verdict is Verdict.UNDECIDED
    assert report.culprits == ()


class Reads(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * x.sum().item()  # reads


class LosingBackend(SimulatedBackend):
    """A device that no capture that fails leaves usable."""

    def __init__(self) -> None:
        super().__init__()
        self._why = ""

    def capture(self, call: Callable[[], object]) -> SimulatedGraph:
        try:
            return super().capture(call)
        except RuntimeError as error:
            self._why = "the device is lost"
            raise SpentError(self._why) from error

    def spent(self) -> str:
        return self._why


def test_a_capture_that_loses_the_device_is_refused_at_the_line_that_raised() -> None:
    starts: list[str] = []

    def choose(_: Settings) -> tuple[Backend, tuple[str, ...]]:
        return LosingBackend(), ()

    report = run_live(
        lambda: Case(Reads(), inputs),
        SETTINGS,
        case="case",
        tools=Tools(choose=choose),
        progress=starts.append,
    )
    (culprit,) = report.culprits

    assert report.verdict is Verdict.REFUSES
    assert culprit.place is not None
    assert culprit.place.source.endswith("# reads")
    assert not any("up to" in text for text in starts)
