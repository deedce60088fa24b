"""Start a child process: a fresh Python for a case by name, or a fork for one that is in memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import capturelint
from capturelint.debug.processes.child import Child
from capturelint.debug.processes.request import Request
from capturelint.debug.wire import encode

# Nothing in the working directory may stand in for a module that Python or capturelint needs, and
# the capturelint that runs is to be this one. Python 3.10 has no -P.
_START = """\
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
sys.path.insert(0, sys.argv.pop())
import capturelint
del sys.path[0]
from importlib import import_module
import_module({module!r}).main()
"""
_WORKER = "capturelint.debug.processes.worker"


def worker_command(module: str = _WORKER) -> tuple[str, ...]:
    """Return the command that runs `main` of a module in a fresh Python."""
    start = _START.format(module=module)
    return (sys.executable, "-c", start, str(Path(capturelint.__file__).parents[1]))


def spawned(request: Request, command: Sequence[str]) -> Child:
    """Return a fresh process that judges `request`, in a session of its own."""
    pipe = subprocess.PIPE
    process = subprocess.Popen(  # noqa: S603 - our own command, without a shell
        command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    return Child(
        process,
        events=process.stdout,
        output=process.stderr,
        lifeline=process.stdin,
        request=json.dumps(encode(request)).encode() + b"\n",
    )


def forked(work: Callable[[int, int], NoReturn]) -> Child:
    """Return a copy of this process that runs `work`, in a session of its own.

    `work` is given the descriptors to tell events to and to notice the parent's end by. What is
    printed goes to the child's output.
    """
    events, output, lifeline = os.pipe(), os.pipe(), os.pipe()
    pid = _fork()
    if pid == 0:
        try:
            os.setsid()
            for descriptor in (events[0], output[0], lifeline[1]):
                os.close(descriptor)
            os.dup2(output[1], 1)
            os.dup2(output[1], 2)
            os.close(output[1])
            work(events[1], lifeline[0])
        finally:
            os._exit(1)
    for descriptor in (events[1], output[1], lifeline[0]):
        os.close(descriptor)
    return Child(
        Forked(pid),
        events=os.fdopen(events[0], "rb"),
        output=os.fdopen(output[0], "rb"),
        lifeline=os.fdopen(lifeline[1], "wb"),
    )


@dataclass(slots=True)
class Forked:
    """A process that was forked. `code`: how it ended, None until that is known."""

    pid: int
    code: int | None = None

    def poll(self) -> int | None:
        """Return its exit code, or the number of the signal that killed it, negated; or None."""
        if self.code is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # someone else in this process waited for it
                pid, status = self.pid, 0
            if pid == self.pid:
                self.code = os.waitstatus_to_exitcode(status)
        return self.code


def _fork() -> int:
    with warnings.catch_warnings():
        # From 3.12 on Python warns of locks that other threads hold. A child that waits for one is
        # ended when its time is up, like any that hangs.
        warnings.filterwarnings("ignore", r"This process .* is multi-threaded", DeprecationWarning)
        return os.fork()
