"""Hostile cases through the command line: each ends with one clear line and the right exit code."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
    pytest.mark.skipif(sys.platform == "win32", reason="signals and forks of POSIX"),
]

STEP = """\
import ctypes, os, signal, sys, time
import torch
from torch import nn

class Step(nn.Module):
    def forward(self, x):
        {call}
        return x * 2

def make():
    return nn.Sequential(nn.Linear(4, 4), Step()), lambda seed: (torch.randn(2, 4),)
"""
AT = "case.py:7"  # the line of the call

KERNEL = """\
import torch
from torch import nn

library = torch.library.Library("hostile", "DEF")
library.define("kernel(Tensor x) -> Tensor")  # written in C++ or Triton, and not to be had here
torch.library.register_fake("hostile::kernel", torch.empty_like)

class Step(nn.Module):
    def forward(self, x):
        return torch.ops.hostile.kernel(x)

def make():
    return nn.Sequential(nn.Linear(4, 4), Step()), lambda seed: (torch.randn(2, 4),)
"""

ONLY_CAPTURING = "if torch.cuda.is_current_stream_capturing(): {call}"


@dataclass(frozen=True, slots=True)
class Case:
    """A case file and how its run must end.

    `says`: what one line holds; of standard error where the exit code is 2, else of the report.
    `options`: more arguments.
    """

    source: str
    code: int
    says: tuple[str, ...]
    options: tuple[str, ...] = ()


def step(call: str, code: int, *says: str, options: tuple[str, ...] = ()) -> Case:
    return Case(STEP.format(call=call), code, says, options)


def factory(body: str, code: int, *says: str, options: tuple[str, ...] = ()) -> Case:
    return Case(f"import os, sys, time\ndef make():\n    {body}\n", code, says, options)


SHORT = ("--timeout", "5")
PASSES = ("case.py:make: replays-equal",)

CASES = {
    "the factory raises": factory(
        "raise ValueError('no weights')", 2, "case.py:make", "ValueError: no weights", "case.py:3"
    ),
    "the factory returns a number": factory("return 3", 2, "case.py:make", "int"),
    "the factory returns nothing": factory("pass", 2, "case.py:make", "None"),
    "the factory needs a module": factory(
        "import tritonless", 2, "ModuleNotFoundError: No module named 'tritonless'", "case.py:3"
    ),
    "the factory hangs": factory("time.sleep(99)", 4, "5 s", "loading", options=SHORT),
    "the factory exits": factory(
        "sys.exit(0)", 2, "case.py:make raised SystemExit: 0", "case.py:3"
    ),
    "the factory ends the process": factory("os._exit(3)", 4, "exit code 3", "loading"),
    "forward raises": step("raise ValueError('odd batch')", 2, "ValueError: odd batch", AT),
    "forward hangs": step("time.sleep(99)", 4, "undecided", "5 s", AT, options=SHORT),
    "forward exits": step("sys.exit(0)", 4, "undecided", "SystemExit"),
    "forward ends the process": step("os._exit(3)", 4, "undecided", "exit code 3"),
    "forward is killed": step(
        "os.kill(os.getpid(), signal.SIGSEGV)", 4, "undecided", "SIGSEGV", AT
    ),
    "forward reads address 0": step("ctypes.string_at(0)", 4, "undecided", "SIGSEGV", AT),
    "forward aborts": step("os.abort()", 4, "undecided", "SIGABRT", AT),
    "forward ends the process while capturing": step(
        ONLY_CAPTURING.format(call="os._exit(3)"), 4, "undecided 1 ", "exit code 3"
    ),
    "forward hangs while capturing": step(
        ONLY_CAPTURING.format(call="time.sleep(99)"), 4, "undecided 1 ", "5 s", options=SHORT
    ),
    "forward prints a megabyte": step("print('x' * (1 << 20))", 0, *PASSES),
    "forward writes a megabyte past Python": step("os.write(1, b'x' * (1 << 20))", 0, *PASSES),
    "forward closes its output": step("sys.stdout.close()", 0, *PASSES),
    "forward forks": step("os.fork() or os._exit(0)", 0, *PASSES),
    "forward forks and both go on": step("os.fork()", 0, *PASSES),
    "forward changes the folder": step("os.chdir('/')", 0, *PASSES),
    "forward needs a module": step("import tritonless", 2, "No module named 'tritonless'", AT),
    "forward needs a CUDA kernel": Case(KERNEL, 4, ("undecided", "hostile::kernel")),
    "the file is no Python": Case("def make(:\n", 2, ("case.py:1: invalid syntax",)),
    "the file has no such name": Case("def other(): pass\n", 2, ("case.py", "make")),
}


# Ended by what another case, or one of `tests/unit/debug/processes`, shows as well.
ALIKE = (
    "the factory returns nothing",
    "the factory ends the process",
    "forward hangs",
    "forward exits",
    "forward reads address 0",
    "forward aborts",
    "forward writes a megabyte past Python",
    "forward forks",
    "forward changes the folder",
    "forward needs a module",
)


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=[pytest.mark.sweep(0)] if one in ALIKE else []) for one in CASES],
)
def test_ends_with_one_clear_line_and_the_right_code(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    done = ended(case, tmp_path)
    text = done.stderr if case.code == 2 else done.stdout
    clear = [line for line in text.splitlines() if all(words in line for words in case.says)]

    assert (done.returncode, len(clear)) == (case.code, 1), done.stdout + done.stderr
    if case.code == 2:
        assert (done.stdout, text.count("\n")) == ("", 1)
    assert "Traceback" not in done.stderr
    assert len(done.stdout) < 4096


def ended(case: Case, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run one, written into `folder`, to its end."""
    (folder / "case.py").write_text(case.source)
    command = [sys.executable, "-m", "capturelint", "bisect", "case.py:make"]
    options = ["--backend", "simulated", "--format", "concise", *case.options]
    return subprocess.run(
        [*command, *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
