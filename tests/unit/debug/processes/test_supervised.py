"""Whole runs with a stand-in engine: by name with a journal, and of objects in memory."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capturelint.debug import backends
from capturelint.debug.backend import SpentError
from capturelint.debug.processes.request import Request
from capturelint.debug.processes.supervised import run_by_name, run_live
from capturelint.debug.processes.supervisor import CaseFailedError
from capturelint.debug.settings import Settings
from capturelint.verdict import Report, Verdict
from tests.unit.debug.processes.left_behind import left_in_session
from tests.unit.debug.processes.stand_in import COMMAND, TOOLS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and sessions of POSIX")

CASE = """\
import os
def ran(name):
    with open("ran", "a") as file:
        print(name, end=" ", file=file)
    return name
def make():
    return {name: lambda name=name: ran(name) for name in "abc"}
"""


def by_name(path: Path, *, resume: bool = False, progress: Any = None) -> Report:
    request = Request(f"{path}:make")
    return run_by_name(request, command=COMMAND, resume=resume, progress=progress)


def live(parts: Callable[[], Any], *, timeout: float = 30.0, progress: Any = None) -> Report:
    settings = Settings(timeout=timeout)
    return run_live(parts, settings, case="Model", tools=TOOLS, progress=progress)


def verdicts(report: Report) -> dict[str, Verdict]:
    return {module.path: module.verdict for module in report.modules}


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "case.py"
    path.write_text(CASE)
    return path


LOST = """\
from capturelint.debug.backend import SpentError
def lose():
    raise SpentError("the device is lost: device-side assert triggered")
def refuse():
    raise ValueError("refused")
def make():
    return {"a": lose, "b": refuse, "c": lambda: None}
"""


def interrupt_at(word: str) -> Callable[[str], None]:
    def progress(text: str) -> None:
        if word in text:
            raise KeyboardInterrupt

    return progress


def test_progress_is_told_in_words(case: Path) -> None:
    told: list[str] = []

    by_name(case, progress=told.append)

    assert told == [
        "importing torch",
        "judging a (1 of 3)",
        "judging b (2 of 3)",
        "judging c (3 of 3)",
    ]


def test_a_run_that_was_broken_off_is_resumed_where_it_was(case: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        by_name(case, progress=interrupt_at("judging c"))
    (kept,) = Path(".capturelint_cache/bisect").iterdir()

    report = by_name(case, resume=True)

    assert Path("ran").read_text() in ("a b c ", "a b c c ")  # the child may be quicker than we
    assert report.notes == ("resumed: 2 outcomes are from an earlier run",)
    assert verdicts(report) == dict.fromkeys("abc", Verdict.EQUAL)
    assert not kept.exists()


def test_without_resume_all_is_judged_again(case: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        by_name(case, progress=interrupt_at("judging c"))

    report = by_name(case)

    assert Path("ran").read_text().endswith("b a b c ") or "c a b c" in Path("ran").read_text()
    assert report.notes == ()


def test_where_nothing_is_to_be_resumed_the_report_says_so(case: Path) -> None:
    assert by_name(case, resume=True).notes == ("no earlier run of this case was found to resume",)


def test_a_case_that_changed_since_is_not_resumed(case: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        by_name(case, progress=interrupt_at("judging c"))
    case.write_text(f"{CASE}# edited\n")

    report = by_name(case, resume=True)

    assert report.notes == ("no earlier run of this case was found to resume",)


def test_a_run_that_cannot_keep_its_outcomes_says_so_and_goes_on(case: Path) -> None:
    Path(".capturelint_cache").write_text("a file")

    report = by_name(case)

    assert report.verdict is Verdict.EQUAL
    assert report.notes == (
        "nothing is kept for --resume: .capturelint_cache cannot be written: Not a directory",
    )


def test_a_case_that_cannot_be_loaded_leaves_nothing_behind(case: Path) -> None:
    case.write_text("def make(): return 3")

    with pytest.raises(CaseFailedError):
        by_name(case)
    assert [path.name for path in Path().iterdir()] == ["case.py"]


def test_a_run_that_ends_with_a_mistake_of_the_case_keeps_nothing(case: Path) -> None:
    def failing(text: str) -> None:
        if text.startswith("judging b"):
            raise CaseFailedError("it cannot be run")

    with pytest.raises(CaseFailedError):
        by_name(case, progress=failing)

    assert Path("ran").read_text().split()[:1] == ["a"]
    assert list(Path(".capturelint_cache").glob("bisect/*.jsonl")) == []


def test_an_object_in_memory_is_judged_in_a_process_of_its_own(
    capfd: pytest.CaptureFixture[str],
) -> None:
    seen: list[int] = []
    sys.stdout.write("before")

    report = live(
        lambda: {
            "a": lambda: seen.append(1),
            "b": lambda: sys.stdout.write("in b\n"),
            "c": sys.exit,
        }
    )

    assert verdicts(report) == {"a": Verdict.EQUAL, "b": Verdict.EQUAL, "c": Verdict.UNDECIDED}
    assert report.case == "Model"
    assert seen == []
    assert capfd.readouterr() == ("before", "")


def test_a_fork_that_dies_or_hangs_is_followed_by_another(tmp_path: Path) -> None:
    def noted(call: Callable[[], object]) -> object:
        with (tmp_path / "pids").open("a") as file:
            print(os.getpid(), file=file)
        return call()

    def hang() -> None:
        os.fork()
        time.sleep(60)

    def parts() -> dict[str, Callable[[], object]]:
        return {"a": lambda: noted(lambda: os._exit(3)), "b": lambda: noted(hang), "c": int}

    report = live(parts, timeout=2)

    assert verdicts(report) == {
        "a": Verdict.UNDECIDED,
        "b": Verdict.UNDECIDED,
        "c": Verdict.EQUAL,
    }
    assert report.modules[0].why == "the process ended with exit code 3 while judging a"
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert [left_in_session(pid) for pid in pids] == [[], []]


def test_a_fork_beside_other_threads_warns_nobody() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert live(lambda: {"a": int}).verdict is Verdict.EQUAL
    finally:
        stop.set()
        thread.join()


def test_an_exit_handler_of_the_caller_does_not_run_in_the_fork(tmp_path: Path) -> None:
    program = (
        "import atexit, sys; from pathlib import Path\n"
        "from tests.unit.debug.processes.test_supervised import live\n"
        "atexit.register(print, 'bye')\n"
        "sys.stdout.write('waiting in a buffer ')\n"
        "live(lambda: {'a': int, 'b': lambda: sys.exit(3)})\n"
    )
    path = tmp_path / "out"
    with path.open("w") as file:
        from subprocess import run

        run([sys.executable, "-c", program], cwd=COMMAND[-1], stdout=file, check=True)

    assert path.read_text() == "waiting in a buffer bye\n"


def test_where_there_is_no_fork_the_case_runs_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "fork")
    seen: list[int] = []
    told: list[str] = []

    report = live(lambda: {"a": lambda: seen.append(os.getpid())}, progress=told.append)

    assert seen == [os.getpid()]
    assert told[-1] == "judging a (1 of 1)"
    assert report.case == "Model"
    assert report.notes == (
        "judged in the calling process, which a hang or a crash of the case would have ended",
    )


def test_an_exit_of_user_code_in_this_process_does_not_end_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(os, "fork")

    with pytest.raises(CaseFailedError, match=r"^Model raised SystemExit: 3$"):
        live(lambda: {"a": lambda: sys.exit(3)})


def test_what_a_lost_device_leaves_is_judged_in_a_fresh_process(case: Path) -> None:
    case.write_text(LOST)

    report = by_name(case)
    a = next(module for module in report.modules if module.path == "a")

    assert verdicts(report) == {
        "a": Verdict.UNDECIDED,
        "b": Verdict.REFUSES,
        "c": Verdict.EQUAL,
    }
    assert a.why == "the device is lost: device-side assert triggered while judging a"
    assert report.exit_code == 1


def test_of_a_device_that_this_process_loses_is_told_what_was_found_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def lose() -> None:
        raise SpentError("the device is lost")

    def refuse() -> None:
        raise ValueError("refused")

    monkeypatch.delattr(os, "fork")

    report = live(lambda: {"a": refuse, "b": lose})

    assert report.verdict is Verdict.REFUSES
    assert report.notes[0] == "the search did not come to its end: the device is lost"


def test_on_a_gpu_an_object_is_judged_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "why_no_device", lambda: "")

    report = live(lambda: {"a": lambda: None})

    assert report.notes == (
        "judged in the calling process, which a hang or a crash of the case would have ended",
    )
