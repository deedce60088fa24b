"""Copies that user code forks run its code, and end before they get back into ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import capturelint.debug

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")

OURS = Path(capturelint.debug.__file__).with_name("engine.py")
SIMULATED = OURS.parent / "simulated" / "backend.py"

# Calls `user`, as a file of ours would; each process that gets back says so.
CALLER = """\
def run(user):
    try:
        user()
    except BaseException:
        say("raised", end=" ")
    say("back", end=" ")
"""
USER = """\
import os, sys, threading
def say(word, end): os.write(1, f"{word}{end}".encode())
from capturelint.debug.processes.forks import end_copies_that_return
names = {"say": say}
exec(compile(CALLER, PATH, "exec"), names)
end_copies_that_return()
def fork():
    copy = os.fork()
    if copy: os.waitpid(copy, 0)
    return not copy
def user():
    BODY
names["run"](user)
"""


def said(body: str, path: Path = OURS) -> list[str]:
    program = USER.replace("BODY", body).replace("CALLER", repr(CALLER))
    program = program.replace("PATH", repr(str(path)))
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", program],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("fork()", ["back"]),
        ("[fork() for _ in range(3)]", ["back"]),
        ("if fork(): raise ValueError", ["back"]),
        ("if fork(): sys.exit(3)", ["back"]),
        ("if fork(): os._exit(3)", ["back"]),
        ("if fork(): say('work', ' ')", ["work", "back"]),
        ("if fork(): (lambda: say('deeper', ' '))(), say('work', ' ')", ["deeper", "work", "back"]),
        ("raise ValueError", ["raised", "back"]),
    ],
)
def test_only_the_first_process_gets_back(body: str, words: list[str]) -> None:
    assert said(body) == words


def test_work_in_a_copy_may_call_the_simulator() -> None:
    nested = "if fork(): names['run'](lambda: say('work', ' '))"

    assert said(nested, SIMULATED) == ["work", "back", "back", "back"]


def test_a_copy_made_in_a_thread_runs_to_its_end() -> None:
    threaded = "t = threading.Thread(target=lambda: say(f'copy{fork()}', ' ')); t.start(); t.join()"

    assert said(threaded) == ["copyTrue", "copyFalse", "back"]
