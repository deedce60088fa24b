"""How often a run evaluates the expressions that were asked about, and in which modules: by tracing."""

from __future__ import annotations

import dis
import inspect
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from types import CodeType, FrameType
from typing import Any

from capturelint.execution import Asked, Ran


class Counts:
    """What has run so far of `asked`. `module`: tells the path of the module that is running."""

    def __init__(self, asked: Sequence[Asked], module: Callable[[], str]) -> None:
        self._asked = asked
        self._module = module
        self._files: dict[str, list[int]] = {}
        for index, one in enumerate(asked):
            self._files.setdefault(one.path, []).append(index)
        # By identity: two functions of equal code are still two.
        self._codes: dict[int, _Code | None] = {}
        self._run: set[str] = set()
        self._is_lost = False
        self.entered: Counter[int] = Counter()
        self.lines: Counter[int] = Counter()
        self.exactly: Counter[tuple[int, str]] = Counter()
        self.inside: Counter[tuple[int, str]] = Counter()
        self.known: dict[int, bool] = {}  # whether an instruction is exactly the expression
        self.modules: dict[int, dict[str, None]] = {}

    def ran(self) -> tuple[Ran, ...]:
        """Return what ran of each stretch that was asked about."""
        if self._is_lost:
            return tuple(Ran() for _ in self._asked)
        return tuple(map(self._ran, range(len(self._asked))))

    def lose(self) -> None:
        """Forget all: other code has put an end to the tracing."""
        self._is_lost = True

    def enter(self, frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG002 - as Python calls it
        """Trace the frame that begins, if its code holds what was asked about."""
        code = self._code(frame.f_code)
        if code is None:
            return None
        frame.f_trace_opcodes = True
        # Of a comprehension and the like the function around it tells.
        if not frame.f_code.co_name.startswith("<"):
            self.entered.update(code.indices)
        return code.inside

    def note(self, index: int) -> None:
        """Keep which module ran what was asked about."""
        self.modules.setdefault(index, {})[self._module()] = None

    def _ran(self, index: int) -> Ran:
        is_told = _tells_instructions() and (self.known.get(index) is not None)
        counted = self.exactly if self.known.get(index) else self.inside
        # Python repeats instructions, as those of a condition at the end of its loop: the kind that
        # ran most often is the one that all ways pass.
        most = max((count for (one, _), count in counted.items() if one == index), default=0)
        never = not self.entered[index] and not self.lines[index]
        return Ran(
            calls=most if is_told else 0 if never and _tells_instructions() else None,
            entered=self.entered[index],
            lines=self.lines[index],
            modules=tuple(self.modules.get(index, ())),
            is_file_run=self._asked[index].path in self._run,
        )

    def _code(self, code: CodeType) -> _Code | None:
        key = id(code)
        if key not in self._codes:
            path = real(code.co_filename)
            indices = self._files.get(path, [])
            self._run.update([path] if indices else [])
            made = _Code(code, [(one, self._asked[one]) for one in indices], self)
            self._codes[key] = made if made.indices else None
        return self._codes[key]


class _Code:
    """One code object that holds something of what was asked. `indices`: of what it holds."""

    def __init__(self, code: CodeType, asked: Sequence[tuple[int, Asked]], counts: Counts) -> None:
        self.code = code  # so that no other gets its identity
        self._counts = counts
        self._at: dict[int, list[tuple[Counter[tuple[int, str]], tuple[int, str]]]] = {}
        self._lines: dict[int, list[int]] = {}
        numbers = {line or 0 for _, line in dis.findlinestarts(code)}  # some have none
        names = {one.offset: one.opname for one in dis.get_instructions(code)}
        for index, one in asked:
            exact, inside = _offsets(code, one)
            for offset in exact or inside:
                counter = counts.exactly if exact else counts.inside
                key = (index, names.get(offset, ""))
                self._at.setdefault(offset, []).append((counter, key))
            if exact or inside:
                counts.known[index] = bool(exact) or counts.known.get(index, False)
            for line in filter(one.has_line, numbers):
                self._lines.setdefault(line, []).append(index)
        held = {key[0] for found in self._at.values() for _, key in found}
        self.indices = held | {index for found in self._lines.values() for index in found}

    def inside(self, frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG002 - as Python calls it
        """Count what is about to run in a frame of this code."""
        if event == "opcode":
            for counter, key in self._at.get(frame.f_lasti, ()):
                counter[key] += 1
                self._counts.note(key[0])
        elif event == "line":
            for index in self._lines.get(frame.f_lineno, ()):
                self._counts.lines[index] += 1
                self._counts.note(index)
        return self.inside


@contextmanager
def counting(asked: Sequence[Asked], module: Callable[[], str]) -> Iterator[Counts]:
    """Count what runs inside, in this thread and those that Python starts from it.

    Another tracer is off meanwhile. Where nothing is asked, nothing is traced.
    """
    counts = Counts(asked, module)
    if not asked:
        yield counts
        return
    _tells_instructions()  # which traces on its own
    enter = counts.enter
    before, before_in_threads = sys.gettrace(), threading.gettrace()
    threading.settrace(enter)
    _trace(enter)
    try:
        yield counts
        if sys.gettrace() != enter:
            counts.lose()
    finally:
        sys.settrace(before)
        threading.settrace(before_in_threads)


@cache
def real(path: str) -> str:
    """Return the real path of a file, as code names it."""
    return os.path.realpath(path)


def _offsets(code: CodeType, asked: Asked) -> tuple[list[int], list[int]]:
    """Return the offsets of the instructions that are the expression, and of those inside of it."""
    exact: list[int] = []
    inside: list[int] = []
    positions = getattr(code, "co_positions", lambda: iter(()))()
    start, end = (asked.line, asked.column), (asked.end_line, asked.end_column)
    for index, (line, end_line, column, end_column) in enumerate(positions):
        if None in (line, end_line, column, end_column):
            continue
        if (line, column) == start and (end_line, end_column) == end:
            exact.append(2 * index)
        elif start <= (line, column) and (end_line, end_column) <= end:
            inside.append(2 * index)
    return exact, inside


def _trace(enter: Callable[[FrameType, str, object], Any]) -> None:
    """Trace by `enter`, instructions too: from Python 3.12 on the frame that sets it must ask."""
    frame = inspect.currentframe()
    if frame is not None:
        frame.f_trace_opcodes = True
    sys.settrace(enter)


@cache
def _tells_instructions() -> bool:
    """Return whether this Python tells positions of instructions, and when each one runs."""
    if not hasattr(CodeType, "co_positions"):
        return False
    seen: list[str] = []

    def inside(frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG001 - as Python calls it
        seen.append(event)
        return inside

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        if frame.f_code is not trial.__code__:
            return None
        frame.f_trace_opcodes = True
        return inside(frame, event, arg)

    def trial() -> int:
        return len(seen)

    before = sys.gettrace()
    _trace(enter)
    try:
        trial()
    finally:
        sys.settrace(before)
    return "opcode" in seen
