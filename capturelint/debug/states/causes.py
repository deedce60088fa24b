"""Which line of the user's code makes a change of state, seen by tracing one run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType, FrameType
from typing import Any

from capturelint.debug.frames import is_users, place_at, sourced
from capturelint.debug.states.probes import Probe, probe_of
from capturelint.debug.states.state import Change, State
from capturelint.verdict import Place


def writers(run: Callable[[], object], state: State, changes: Sequence[Change]) -> dict[str, Place]:
    """Return by name of each change the line that made it last in one run.

    `changes`: as `state` told them. Changes that the run does not make are left out. Calls `run`
    once, tracing the user's lines of this thread, which is many times slower; raises what it
    raises; the state is as it leaves it. Another tracer is off meanwhile.
    """
    probes = [probe_of(change, state.route(change)) for change in changes]
    tracer = _Tracer([probe for probe in probes if probe is not None])
    before = sys.gettrace()
    sys.settrace(tracer.enter)
    try:
        run()
    finally:
        sys.settrace(before)
    return {name: sourced(place_at(*at)) for name, at in tracer.found.items()}


@contextmanager
def lines_run() -> Iterator[set[tuple[str, int]]]:
    """Fill a set with the file and number of each of the user's lines that run inside.

    In this thread alone. Another tracer is off meanwhile.
    """
    lines: set[tuple[str, int]] = set()

    def inside(frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG001 - as Python calls it
        lines.add((frame.f_code.co_filename, frame.f_lineno))
        return inside

    def enter(frame: FrameType, event: str, arg: object) -> Any:
        return inside(frame, event, arg) if is_users(frame.f_code) else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        yield lines
    finally:
        sys.settrace(before)


class _Tracer:
    """Compares the probed values whenever a line of the user's begins, a call begins or ends.

    What changed since the last time, the line that was being run then has changed.
    """

    def __init__(self, probes: Sequence[Probe]) -> None:
        self.found: dict[str, tuple[CodeType, int]] = {}
        self._probes = probes
        self._seen = [probe.look() for probe in probes]
        self._at: tuple[CodeType, int] | None = None

    def enter(self, frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG002 - as Python calls it
        if not is_users(frame.f_code):
            return None
        self._compare()
        self._at = frame.f_code, frame.f_lineno
        return self._inside

    def _inside(self, frame: FrameType, event: str, arg: object) -> Any:  # noqa: ARG002 - as Python calls it
        if event == "line":
            self._compare()
            self._at = frame.f_code, frame.f_lineno
        elif event == "return":
            self._compare()
            self._at = _line_above(frame)
        return self._inside

    def _compare(self) -> None:
        for number, probe in enumerate(self._probes):
            now = probe.look()
            if probe.is_same(self._seen[number], now):
                continue
            self._seen[number] = now
            if self._at is not None:
                self.found[probe.name] = self._at


def _line_above(frame: FrameType) -> tuple[CodeType, int] | None:
    """Return the line of the user's that called, directly or through a library."""
    above = frame.f_back
    while above is not None and not is_users(above.f_code):
        above = above.f_back
    return None if above is None else (above.f_code, above.f_lineno)
