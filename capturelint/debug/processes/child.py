"""One child process as its parent sees it: hear what it tells, end it and all that it started."""

from __future__ import annotations

import os
import queue
import re
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Protocol

from capturelint.debug.events import Event, from_line
from capturelint.debug.wire import WireError

_LOOK_EVERY = 0.1  # seconds between looks at a child that tells nothing
_LAST_WORDS = 1.0  # seconds that what it wrote may take to arrive after its end
_ENDING = 10.0  # seconds that it may take to be gone, with its memory of the device
_PRINTING = 0.5  # seconds that it gets to print its stack
_TAIL = 16 * 1024  # bytes of output kept
_CRASHES = frozenset({signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV}) | {
    getattr(signal, "SIGBUS", signal.SIGSEGV)  # Windows has none
}
_NOT_PRINTED = re.compile(r"\x1b\[[0-9;]*[a-zA-Z]|[^\n\t\x20-\x7e\xa0-\U0010ffff]")


class TookTooLongError(Exception):
    """A child told nothing new in time."""


class Process(Protocol):
    """What there is to know about a running process; `subprocess.Popen` is one."""

    @property
    def pid(self) -> int:
        """Return its number, which is that of its process group too."""

    def poll(self) -> int | None:
        """Return its exit code, or the number of the signal that killed it, negated; or None."""


class Child:
    """A process that runs a case. Leaving its context ends it and every process of its group.

    `events`, `output`: what it tells and what user code prints. `lifeline`: `request` is written
    to it; when it is closed, however that comes, the child ends.
    """

    def __init__(
        self,
        process: Process,
        *,
        events: IO[bytes],
        output: IO[bytes],
        lifeline: IO[bytes],
        request: bytes = b"",
    ) -> None:
        self._process = process
        self._lifeline = lifeline
        self._events: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        self._tail = b""
        self._hung_up = self._is_ended = False
        # Threads, because a pipe that is full would stop the child, and one that is empty us.
        self._threads = [
            _running(lambda: self._hear(events)),
            _running(lambda: self._drain(output)),
            _running(lambda: _tell(lifeline, request)),
        ]

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def next_event(self, until: float) -> Event | None:
        """Return what it tells next, or None when it has ended. Raises `TookTooLongError`.

        `until`: on `time.monotonic`.
        """
        while True:
            left = until - time.monotonic()
            with suppress(queue.Empty):
                event = self._events.get(timeout=max(0.0, min(left, _LOOK_EVERY)))
                if event is None:
                    self._hang_up()
                return event
            # A process that user code forked may keep the pipe open: its end says nothing.
            if self._process.poll() is not None:
                return self._last_event()
            if left <= 0:
                raise TookTooLongError

    def print_stack(self) -> None:
        """Let it print to its output where it is, if it still can."""
        if hasattr(signal, "SIGUSR2") and self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGUSR2)
            time.sleep(_PRINTING)

    @property
    def ending(self) -> str:
        """Return in words how it ended by itself: `was killed by SIGSEGV`."""
        code = self._process.poll()
        if self._hung_up or code is None:
            return "the process closed its connection to capturelint"
        if code >= 0:
            return f"the process ended with exit code {code}"
        if code == -signal.SIGKILL:
            return "the process was killed by SIGKILL, as the system does when memory runs out"
        return f"the process was killed by {_name(-code)}"

    @property
    def has_crashed(self) -> bool:
        """Return whether it ended by a signal that faults and aborts of its own code lead to."""
        return not self._hung_up and -(self._process.poll() or 0) in _CRASHES

    @property
    def tail(self) -> str:
        """Return the end of what user code printed, without what steers a terminal."""
        text = self._tail.decode("utf-8", "replace").replace("\r\n", "\n")
        if len(self._tail) == _TAIL:
            text = text.partition("\n")[2] or text
        return _NOT_PRINTED.sub("", text).strip("\n")

    def _hear(self, events: IO[bytes]) -> None:
        with events:
            for line in events:
                # User code may have found the descriptor and written to it.
                with suppress(WireError):
                    self._events.put(from_line(line))
        self._events.put(None)

    def _drain(self, output: IO[bytes]) -> None:
        with output:
            while chunk := os.read(output.fileno(), 1 << 16):
                self._tail = (self._tail + chunk)[-_TAIL:]

    def _hang_up(self) -> None:
        self._hung_up = not _within(_LAST_WORDS, lambda: self._process.poll() is not None)
        self._end()

    def _last_event(self) -> Event | None:
        self._end()
        with suppress(queue.Empty):
            return self._events.get_nowait()
        return None

    def _end(self) -> None:
        if self._is_ended:
            return
        self._is_ended = True
        _kill_group(self._process)
        # The next one may need the memory of the device that a driver is still giving back.
        _within(_ENDING, lambda: self._process.poll() is not None)
        # One that has left the group may hold a pipe; all that the child itself wrote is read.
        _within(_LAST_WORDS, lambda: not any(thread.is_alive() for thread in self._threads))
        # What was asked may still be in its buffer.
        with suppress(OSError):
            self._lifeline.close()


def _running(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def _tell(lifeline: IO[bytes], request: bytes) -> None:
    with suppress(OSError):
        lifeline.write(request)
        lifeline.flush()


def _within(seconds: float, is_so: Callable[[], bool]) -> bool:
    """Return whether it becomes so within `seconds`."""
    end = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def _kill_group(process: Process) -> None:
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError, PermissionError):  # macOS: only zombies are left
            os.killpg(process.pid, signal.SIGKILL)
    # A fork that has not yet made its own group.
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.kill(process.pid, getattr(signal, "SIGKILL", signal.SIGTERM))


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal has no name
        return f"signal {number}"
