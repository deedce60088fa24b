"""Run the beginning of a call: up to a call of a module in it, a line, an operation."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from capturelint.debug.attempts.calls import Run, every_call_through
from capturelint.debug.frames import is_users, place_at, users_frames
from capturelint.verdict import Place


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a run stops. All numbers are from 1; 0 is none.

    `calls`: the call that it stops in or after, as the number of the call at each level: `(2, 1)`
    is the first in the second. `is_before`: stop before that call, not at its end. `lines`: stop
    once so many lines of its own have run; `operations`: once so many operations have, of the last
    of these lines, or of the call if `lines` is 0. What calls in it run is not its own.
    """

    calls: tuple[int, ...] = ()
    is_before: bool = False
    lines: int = 0
    operations: int = 0

    def __str__(self) -> str:
        """Return it in words that tell it from all others."""
        words = [f"{'before' if self.is_before else 'call'} {'.'.join(map(str, self.calls)) or 0}"]
        words += [f"line {self.lines}"] if self.lines else []
        words += [f"operation {self.operations}"] if self.operations else []
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation that a call ran itself. `line`: in which of its lines, as their number, or 0."""

    name: str
    line: int
    places: tuple[Place, ...]


@dataclass(slots=True)
class Contents:
    """What one call runs itself, in order. `calls`: of modules, by their paths."""

    calls: list[str] = field(default_factory=list)
    lines: list[Place] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


class _Enough(BaseException):
    """The beginning has run. No `Exception`, because code under test may handle all of those."""


def cut_off(run: Run, cut: Cut, modules: Sequence[nn.Module]) -> Run:
    """Return what runs `run` up to `cut` and returns None there. `modules`: all that it may call."""

    def beginning(*args: Any, **kwargs: Any) -> object:
        try:
            with _walked(_Walk(run, cut.calls, cut=cut), modules):
                result = run(*args, **kwargs)
        except _Enough:
            return None
        return result

    return beginning


@contextmanager
def contents_seen(
    run: Run,
    calls: tuple[int, ...],
    paths: Callable[[nn.Module], str],
    modules: Sequence[nn.Module],
) -> Iterator[Contents]:
    """Fill what the call at `calls` in `run` runs itself, in the eager run that is made inside."""
    contents = Contents()
    with _walked(_Walk(run, calls, contents=contents, paths=paths), modules):
        yield contents


class _Walk:
    """Counts calls, lines and operations as they run, and stops at a cut.

    `root`: what runs, whose own call is not counted. `watched`: the call whose lines and operations
    count.
    """

    def __init__(
        self,
        root: object,
        watched: tuple[int, ...],
        *,
        cut: Cut | None = None,
        contents: Contents | None = None,
        paths: Callable[[nn.Module], str] = lambda _: "",
    ) -> None:
        self._root = root
        self._watched = watched
        self._cut = cut
        self._contents = contents or Contents()
        self._paths = paths
        self._at: tuple[int, ...] = ()
        self._made = [0]
        self._lines = self._operations = 0
        self._is_over = False

    def call(
        self, module: nn.Module, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        """Run one call of a module."""
        if module is self._root:
            return run(*args, **kwargs)
        self.stop_if_over()
        if self._at == self._watched:
            self._contents.calls.append(self._paths(module))
        self._made[-1] += 1
        before, self._at = self._at, (*self._at, self._made[-1])
        self._made.append(0)
        try:
            self._enter()
            result = run(*args, **kwargs)
            self._leave()
        finally:
            self._at = before
            self._made.pop()
        return result

    def line(self, frame: FrameType) -> None:
        """Count a line that is about to run."""
        if self._at != self._watched:
            return
        if self._cut is not None and 0 < self._cut.lines <= self._lines:
            self._stop()
        self._lines += 1
        self._contents.lines.append(place_at(frame.f_code, frame.f_lineno))

    def operation(self, name: str) -> None:
        """Count an operation that has run."""
        if self._at != self._watched:
            return
        if self._cut is None:
            self._contents.operations.append(Operation(name, self._lines, users_frames()))
        elif self._cut.operations and self._cut.lines in (0, self._lines):
            self._operations += 1
            if self._operations >= self._cut.operations:
                self._stop()

    def stop_if_over(self) -> None:
        """Stop once more where that was caught, as what finalizers raise is."""
        if self._is_over:
            raise _Enough

    def _stop(self) -> None:
        self._is_over = True
        raise _Enough

    def _enter(self) -> None:
        if self._cut is not None and self._cut.is_before and self._at == self._watched:
            self._stop()

    def _leave(self) -> None:
        if self._cut is not None and self._at == self._watched:
            self._stop()


class _Operations(TorchDispatchMode):  # type: ignore[no-untyped-call] # torch leaves it so
    """Tells a walk of each operation, once it has run."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # else the first operation loads torch._dynamo: 2-5 s

    def __init__(self, walk: _Walk) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # torch leaves it so
        self._walk = walk

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        self._walk.stop_if_over()
        result = func(*args, **(kwargs or {}))
        self._walk.operation(str(func))
        return result


@contextmanager
def _walked(walk: _Walk, modules: Iterable[nn.Module]) -> Iterator[None]:
    """Tell `walk` of what runs inside. Another tracer is off meanwhile.

    So is the garbage collector: what it calls is no line of what runs.
    """

    def inside(frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG001 - as Python calls it
        if event == "line":
            walk.line(frame)
        return inside

    def enter(frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG001 - as Python calls it
        return inside if is_users(frame.f_code) else None

    before, is_collecting = sys.gettrace(), gc.isenabled()
    with every_call_through(walk.call, modules), _Operations(walk):
        gc.disable()
        sys.settrace(enter)
        try:
            yield
        finally:
            sys.settrace(before)
            if is_collecting:
                gc.enable()
