"""Hostile cases, each a real file run by a real child process; only the engine is a stand-in."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from capturelint.debug import events
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes.child import Child
from capturelint.debug.processes.request import Request
from capturelint.debug.processes.spawn import spawned
from capturelint.debug.processes.supervisor import CaseFailedError, ChildBugError, supervise
from capturelint.verdict import ModuleVerdict, Place, Report, Verdict
from tests.unit.debug.processes.left_behind import left_in_session
from tests.unit.debug.processes.stand_in import COMMAND

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and sessions of POSIX")

HEAD = """\
import ctypes, os, signal, sys, threading, time
with open({pids!r}, "a") as file: print(os.getpid(), file=file)
def make():
"""
FIRST = 4  # line of the body


@dataclass
class Run:
    """One supervised run of a case file. `told`: all that the parent heard."""

    path: Path
    timeout: float = 30.0
    told: list[events.Event] = field(default_factory=list)

    def report(self) -> Report:
        return supervise(
            self.start, case="case", timeout=self.timeout, known={}, watch=self.told.append
        )

    def start(self, known: Mapping[str, Outcome]) -> Child:
        return spawned(Request(f"{self.path}:make", known=known), COMMAND)

    @property
    def children(self) -> list[int]:
        pids = self.path.with_name("pids")
        return [int(pid) for pid in pids.read_text().split()] if pids.exists() else []


Written = Callable[[str], Path]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Return what writes a case file whose `make` has the given body."""

    def write(body: str) -> Path:
        path = tmp_path / "case.py"
        lines = "".join(f"    {line}\n" for line in body.strip("\n").splitlines())
        path.write_text(HEAD.format(pids=str(tmp_path / "pids")) + lines, encoding="utf-8")
        return path

    return write


def verdicts(report: Report) -> dict[str, Verdict]:
    return {module.path: module.verdict for module in report.modules}


DEATHS = {
    "os._exit(3)": "the process ended with exit code 3",
    "os._exit(0)": "the process ended with exit code 0",
    "os.kill(os.getpid(), signal.SIGSEGV)": "the process was killed by SIGSEGV",
    "ctypes.string_at(0)": "the process was killed by SIGSEGV",
    "os.abort()": "the process was killed by SIGABRT",
    "os.kill(os.getpid(), signal.SIGTERM)": "the process was killed by SIGTERM",
    "os.killpg(0, signal.SIGKILL)": (
        "the process was killed by SIGKILL, as the system does when memory runs out"
    ),
    "sys.exit(7)": "raised SystemExit: 7",
    "sys.exit()": "raised SystemExit",
    "exec('raise KeyboardInterrupt')": "raised KeyboardInterrupt",
    "time.sleep(60)": "took longer than 2 s (--timeout)",
    "threading.Event().wait()": "took longer than 2 s (--timeout)",
    "ctypes.PyDLL(None).sleep(60)": "took longer than 2 s (--timeout)",  # holds Python's lock
    "os.kill(os.getpid(), signal.SIGSTOP)": "took longer than 2 s (--timeout)",
}


@pytest.mark.parametrize(("call", "why"), DEATHS.items())
def test_a_step_that_dies_is_undecided_and_the_rest_is_judged(
    call: str, why: str, written: Written
) -> None:
    path = written(f"return {{'a': int, 'b': lambda: {call}, 'c': lambda: 1 / 0}}")
    run = Run(path, timeout=2.0 if "longer" in why else 30.0)

    report = run.report()

    assert verdicts(report) == {"a": Verdict.EQUAL, "b": Verdict.UNDECIDED, "c": Verdict.REFUSES}
    assert report.modules[1].why.partition(", at ")[0] == f"{why} while judging b"
    assert [left_in_session(pid) for pid in run.children] == [[], []]


@pytest.mark.parametrize("call", ["ctypes.string_at(0)", "os.abort()", "time.sleep(60)"])
def test_a_crash_and_a_hang_name_their_line(call: str, written: Written) -> None:
    path = written(f"def crash():\n    {call}\nreturn {{'a': lambda: crash()}}")
    run = Run(path, timeout=2.0 if "sleep" in call else 30.0)

    report = run.report()

    (outcome,) = [event.outcome for event in run.told if isinstance(event, events.Judged)]
    assert outcome.places[0] == Place(str(path), FIRST + 1, "crash")
    assert report.modules[0].why.endswith(f", at {path}:{FIRST + 1}")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="Python itself stops this recursion")
def test_a_stack_overflow_in_native_code_is_the_death_of_a_step(written: Written) -> None:
    body = """
sys.setrecursionlimit(10**9)
@ctypes.CFUNCTYPE(None)
def again():
    again()
return {'a': again, 'b': int}
"""
    report = Run(written(body)).report()

    assert verdicts(report) == {"a": Verdict.UNDECIDED, "b": Verdict.EQUAL}


def test_a_crash_leaves_no_core_file(written: Written) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_CORE)
    if limits[1] == 0:
        pytest.skip("core files are forbidden here anyway")
    check = "lambda: 1 / (resource.getrlimit(resource.RLIMIT_CORE)[0] == 0)"
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (limits[1], limits[1]))
        report = Run(written(f"import resource\nreturn {{'a': {check}}}")).report()
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, limits)

    assert verdicts(report) == {"a": Verdict.EQUAL}


def test_infinite_recursion_is_an_ordinary_failure(written: Written) -> None:
    run = Run(written("def f():\n    f()\nreturn {'a': f, 'b': int}"))

    assert verdicts(run.report()) == {"a": Verdict.REFUSES, "b": Verdict.EQUAL}
    assert len(run.children) == 1


@pytest.mark.parametrize("step", ["load", "warm up"])
@pytest.mark.parametrize(("call", "why"), list(DEATHS.items())[::3])
def test_nothing_goes_on_after_a_death_before_the_first_part(
    step: str, call: str, why: str, written: Written
) -> None:
    deadly = f"print('nearly there'); {call}"
    late = f"return {{'warm up': lambda: exec({deadly!r}, globals())}}"
    run = Run(written(deadly if step == "load" else late), timeout=2.0 if "longer" in why else 30.0)

    report = run.report()

    doing = "loading the case" if step == "load" else "warming up"
    (root,) = report.modules
    assert root == ModuleVerdict("", "", Verdict.UNDECIDED, 0, root.why)
    assert root.why.partition(", at ")[0] == f"{why} while {doing}"
    assert report.notes[0] == f"the search did not come to its end: {root.why}"
    assert report.notes[1].splitlines()[:2] == ["what it printed last:", "  nearly there"]
    assert (report.exit_code, report.backend) == (4, "stand-in")
    assert len(run.children) == 1


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("raise ValueError('no weights')", "case.py:make raised ValueError: no weights at {}:4"),
        ("return 3", "case.py:make returns 3; return a dictionary of functions"),
    ],
)
def test_what_the_user_must_mend_is_said_in_one_line(
    body: str, message: str, written: Written
) -> None:
    path = written(body)

    with pytest.raises(CaseFailedError) as caught:
        Run(path).report()

    assert str(caught.value) == message.format(path)


def test_an_error_that_nobody_foresaw_is_our_bug_and_shows_where(written: Written) -> None:
    path = written("return {'warm up': 3}")

    with pytest.raises(ChildBugError, match=r"(?s)^Traceback .*stand_in.py.*TypeError"):
        Run(path).report()


def test_an_event_that_nobody_could_read_is_our_bug(written: Written) -> None:
    path = written("return {3: int}")

    with pytest.raises(ChildBugError, match=r"(?s)^Traceback .*not a str: '3'"):
        Run(path).report()


TRICKS = [
    "print('x' * (1 << 20))",
    "sys.stderr.write('x' * (1 << 20))",
    "os.write(1, b'x' * (1 << 20))",
    "os.close(1)",
    "(os.close(0), os.close(1), os.close(2))",
    "exec('sys.stdout = None')",
    "exec('sys.stdout = sys.stderr = open(os.devnull, \"w\")')",
    """print('["Finished", {}]\\n["Failed", {"fault": "ours", "message": "no"}]')""",
    "os.write(1, b'\\xff\\n\\x00')",
    "print('\\udcff', chr(0x1f600))",
    "os.chdir('/')",
    "os.environ.clear()",
    "sys.settrace(lambda *_: None)",
    "signal.signal(signal.SIGINT, signal.SIG_IGN)",
    "signal.signal(signal.SIGCHLD, signal.SIG_IGN)",
    "threading.Thread(target=time.sleep, args=(60,)).start()",
    "os.fork() == 0 and time.sleep(60)",
    "os.fork()",
    "os.fork() == 0 and os._exit(5)",
    "os.fork() == 0 and sys.exit(5)",
    "os.fork() == 0 and exec('raise KeyError')",
    "os.fork() and os.waitpid(-1, 0)",
    "os.system('sleep 60 &')",
]


@pytest.mark.parametrize(
    ("when", "trick"),
    [*(("load", trick) for trick in TRICKS), *(("judge", trick) for trick in TRICKS[::4])],
)
def test_what_user_code_does_besides_changes_nothing(
    when: str, trick: str, written: Written, capfd: pytest.CaptureFixture[str]
) -> None:
    parts = "{'trick': lambda: %s, 'a': int, 'b': lambda: 1 / 0}"
    path = written(f"{trick}\nreturn {parts % 0}" if when == "load" else f"return {parts % trick}")
    run = Run(path)
    start = time.monotonic()

    report = run.report()

    assert verdicts(report) == {
        "trick": Verdict.EQUAL,
        "a": Verdict.EQUAL,
        "b": Verdict.REFUSES,
    }
    assert [left_in_session(pid) for pid in run.children] == [[]]
    assert capfd.readouterr() == ("", "")
    assert time.monotonic() - start < 20


def test_a_process_that_left_the_session_and_keeps_the_pipe_keeps_nobody_waiting(
    written: Written, tmp_path: Path
) -> None:
    daemons = tmp_path / "daemons"
    body = f"""
daemon = os.fork()
if daemon == 0:
    os.setsid()
    time.sleep(60)
with open({str(daemons)!r}, "a") as file: print(daemon, file=file)
while os.getsid(daemon) != daemon:
    time.sleep(0.01)
return {{'a': int, 'b': lambda: os._exit(3), 'c': int}}
"""
    start = time.monotonic()
    try:
        report = Run(written(body)).report()
    finally:
        for pid in daemons.read_text().split():
            os.kill(int(pid), signal.SIGKILL)

    assert verdicts(report) == {"a": Verdict.EQUAL, "b": Verdict.UNDECIDED, "c": Verdict.EQUAL}
    assert time.monotonic() - start < 20


def test_a_child_that_closes_every_file_cannot_go_on(written: Written) -> None:
    report = Run(written("os.closerange(3, 100)\nreturn {'a': int}")).report()

    assert verdicts(report) == {"": Verdict.UNDECIDED}


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("hang", ["time.sleep(60)", "ctypes.PyDLL(None).sleep(60)"])
def test_no_process_outlives_a_parent_that_is_killed(
    hang: str, number: signal.Signals, written: Written
) -> None:
    path = written(f"os.fork()\n{hang}")
    program = (
        f"import signal, sys; sys.path.insert(0, {str(Path(__file__).parents[4])!r});"
        # A background job of a shell starts with interrupts ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler);"
        "from pathlib import Path; from tests.unit.debug.processes.test_hostile_cases import Run;"
        f"Run(Path({str(path)!r})).report()"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    run = Run(path)
    wait_for(lambda: bool(run.children))

    parent.send_signal(number)

    assert parent.wait(timeout=20) != 0
    assert left_in_session(run.children[0]) == []


def wait_for(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.02)
