"""How often what was asked about runs, by its place in a file."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from capturelint.debug.counting import counting
from capturelint.execution import Asked, Ran

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="Python tells positions of instructions from 3.11 on"
)

SOURCE = """\
def run(flag, value, values):
    é = flag and value.read()
    doubled = [one.read() for one in values]
    while value.read() < 4:
        pass
    return value.read(
        7
    ), é, doubled

def idle(value):
    return value.read()
"""


class Value:
    def __init__(self) -> None:
        self.now = 0

    def read(self, more: int = 1) -> int:
        self.now += more
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "m.py"
    file.write_text(SOURCE, encoding="utf-8")
    return file


def run_of(path: Path) -> Callable[..., object]:
    names: dict[str, Any] = {}
    exec(compile(SOURCE, str(path), "exec"), names)
    run: Callable[..., object] = names["run"]
    return run


def asked(path: Path, line: int, text: str, *, to: tuple[int, int] | None = None) -> Asked:
    before = SOURCE.splitlines()[line - 1].partition(text)[0]
    column = len(before.encode())
    end_line, end = to or (line, column + len(text))
    return Asked(str(path.resolve()), line, column, end_line, end)


def ran(path: Path, *wanted: Asked, flag: bool = False) -> list[tuple[int | None, int]]:
    run = run_of(path)
    with counting(wanted, lambda: "layer") as counts:
        run(flag, Value(), [Value(), Value()])
    return [(one.calls, one.entered) for one in counts.ran()]


def test_each_expression_is_counted_apart_from_its_line(path: Path) -> None:
    wanted = (
        asked(path, 2, "value.read()"),
        asked(path, 3, "one.read()"),
        asked(path, 4, "value.read() < 4"),
        asked(path, 6, "value.read(", to=(8, 5)),
        asked(path, 11, "value.read()"),
    )

    assert ran(path, *wanted) == [(0, 1), (2, 1), (4, 1), (1, 1), (0, 0)]
    assert ran(path, *wanted, flag=True)[:3] == [(1, 1), (2, 1), (3, 1)]


def test_the_running_modules_are_told_and_a_tracer_is_put_back(path: Path) -> None:
    def trace(*_: object) -> None: ...

    run = run_of(path)
    names = iter(["outer", "inner"])
    now = ["", ""]
    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with counting([asked(path, 4, "value.read()")], lambda: now[0]) as counts:
            for now[0] in names:
                run(False, Value(), [])
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)

    [found] = counts.ran()
    assert found.modules == ("outer", "inner")


def test_a_file_of_which_nothing_ran_is_told_apart(path: Path) -> None:
    run = run_of(path)
    other = Asked(str(path.with_name("other.py").resolve()), 1, 0, 1, 3)
    with counting([asked(path, 11, "value.read()"), other], lambda: "") as counts:
        run(False, Value(), [])

    assert [one.is_file_run for one in counts.ran()] == [True, False]


def test_nothing_is_claimed_where_other_code_ended_the_tracing(path: Path) -> None:
    run = run_of(path)
    with counting([asked(path, 2, "flag")], lambda: "") as counts:
        run(False, Value(), [])
        sys.settrace(None)

    assert counts.ran() == (Ran(),)
