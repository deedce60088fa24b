"""`capturelint.bisect` on the real engine: cases by name, and objects in memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

import capturelint
from capturelint.debug.api import CannotResumeError, bisect
from capturelint.errors import CapturelintError
from capturelint.report.asserting import CaptureError
from capturelint.verdict import Report, Verdict

torch = pytest.importorskip("torch", reason="models are of torch")
nn = torch.nn

SOURCE = """\
import torch
from torch import nn

class Reads(nn.Module):
    def forward(self, x):
        return x * x.abs().max().item()

def make():
    return nn.Sequential(nn.Linear(4, 4), Reads()), lambda seed: (torch.randn(2, 4),)
"""


class Reads(nn.Module):  # type: ignore[misc,name-defined] # torch is imported late
    def forward(self, x: Any) -> Any:
        return x * x.abs().max().item()


READ = Reads.forward.__code__.co_firstlineno + 1


def inputs(seed: int) -> Any:
    return (torch.randn(2, 4, generator=torch.Generator().manual_seed(seed)),)


def blamed(report: Report) -> list[tuple[str, str, int]]:
    return [(one.module, one.place.path, one.place.line) for one in report.culprits if one.place]


def test_a_case_by_name_is_loaded_in_a_fresh_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(SOURCE)
    told: list[str] = []

    report = bisect("m.py:make", progress=told.append)

    assert (report.case, report.backend, report.verdict) == (
        "m.py:make",
        "simulated",
        Verdict.REFUSES,
    )
    assert blamed(report) == [("1", str(tmp_path / "m.py"), 6)]
    assert "m" not in sys.modules
    assert told


def test_a_case_that_leaves_the_folder_is_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(f"{SOURCE}\nimport os\nos.chdir('/')\n")

    report = bisect("m.py:make", cold=True)  # loads more than once

    assert blamed(report)[0] == ("1", str(tmp_path / "m.py"), 6)


def test_a_fork_of_a_process_whose_torch_has_threads_does_not_hang() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.randn(400, 400) @ torch.randn(400, 400)
        report = bisect(nn.Linear(400, 400), inputs=lambda seed: torch.randn(400, 400), timeout=60)
    finally:
        torch.set_num_threads(before)

    assert report.verdict is Verdict.EQUAL


def test_a_module_in_memory_is_judged_and_stays_as_it_was() -> None:
    class Counts(nn.Module):  # type: ignore[misc,name-defined]
        calls = 0

        def forward(self, x: Any) -> Any:
            self.calls += 1
            return x + 1

    model = nn.Sequential(Counts(), Reads())

    report = bisect(model, inputs=inputs)

    assert (report.case, report.verdict) == ("Sequential", Verdict.REFUSES)
    assert blamed(report) == [("1", __file__, READ)]
    assert model[0].calls == 0
    assert not torch.cuda.is_available()


def test_what_was_compiled_before_the_run_runs_eagerly_and_is_noted() -> None:
    compiled = torch.compile(nn.Linear(4, 4), backend="eager")
    with torch.no_grad():
        compiled(*inputs(0))

    report = bisect(compiled, inputs=inputs)

    assert report.verdict is Verdict.EQUAL
    assert report.notes == ("torch.compile: what was compiled before the run ran eagerly",)


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_what_was_compiled_to_graphs_before_the_run_refuses() -> None:
    report = bisect(torch.compile(nn.ReLU(), mode="reduce-overhead"), inputs=inputs)

    assert report.verdict is Verdict.REFUSES
    assert report.culprits[0].operation == "torch.compile with CUDA graphs"


def test_a_function_that_ends_its_process_leaves_ours_alone() -> None:
    def step(x: Any) -> Any:
        if torch.cuda.is_current_stream_capturing():
            os._exit(3)
        return x + 1

    report = bisect((step, inputs))

    assert report.verdict is Verdict.UNDECIDED
    assert "exit code 3" in report.modules[0].why


def test_what_is_capturable_passes_and_what_is_not_shows_the_report() -> None:
    capturelint.assert_capturable(nn.Linear(4, 4), inputs=inputs)
    with pytest.raises(CaptureError, match=r"refuses-capture[\s\S]*item\(\)"):
        capturelint.assert_capturable(Reads(), inputs=inputs)


@pytest.mark.parametrize(
    ("case", "options", "message"),
    [
        (nn.ReLU(), {"inputs": inputs, "replay": 3}, "no setting 'replay'; did you mean replays?"),
        (nn.ReLU(), {"inputs": inputs, "resume": True}, "resume needs a case by name"),
        (nn.ReLU(), {"inputs": inputs, "backend": "cuda"}, "backend cuda cannot be used"),
        (nn.ReLU(), {"inputs": lambda seed: 1 / 0}, "ZeroDivisionError"),
        (3, {}, "int"),
        ("missing.py:make", {}, "no file missing.py"),
        ("missing.py:make", {"inputs": inputs}, "no file missing.py"),
    ],
)
def test_what_cannot_be_used_is_an_error_of_the_user(
    case: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(CapturelintError) as caught:
        bisect(case, **options)

    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_only_a_case_by_name_can_be_resumed() -> None:
    with pytest.raises(CannotResumeError):
        bisect("m.py:make", inputs=inputs, resume=True)
