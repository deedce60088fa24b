"""One line on the terminal that says what a long run is doing, removed at the end."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

_SILENT_SECONDS = 1.0
_SECONDS_BETWEEN = 0.1
_CLEAR_LINE = "\r\x1b[K"


@contextmanager
def progress_line(
    stream: TextIO | None = None, *, clock: Callable[[], float] = time.monotonic
) -> Iterator[Callable[[str], None] | None]:
    """Give what shows a text on `stream`, or None if that is no terminal. Defaults to stderr.

    Nothing is shown in the first second.
    """
    stream = sys.stderr if stream is None else stream
    if stream is None or not stream.isatty():
        yield None
        return
    line = _Line(stream, clock)
    try:
        yield line.show
    finally:
        line.clear()


class _Line:
    """The line on the terminal. `due`: when it may next be drawn, on `clock`."""

    def __init__(self, stream: TextIO, clock: Callable[[], float]) -> None:
        self.stream = stream
        self.clock = clock
        self.due = clock() + _SILENT_SECONDS
        self.is_shown = False

    def show(self, text: str) -> None:
        now = self.clock()
        if now < self.due:
            return
        self.due = now + _SECONDS_BETWEEN
        self.is_shown = True
        # A line as wide as the terminal would wrap, and could not be removed.
        width = shutil.get_terminal_size().columns - 1
        self.stream.write(_CLEAR_LINE + text[:width])
        self.stream.flush()

    def clear(self) -> None:
        if self.is_shown:
            self.stream.write(_CLEAR_LINE)
            self.stream.flush()
