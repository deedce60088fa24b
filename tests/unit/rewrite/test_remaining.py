"""Functions of which some lines have no rewrite: what `--partial` writes, and what is said of the rest."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from capturelint.finding import Effect
from capturelint.rewrite.proof.files import File
from capturelint.rewrite.proof.remaining import untouched
from capturelint.rewrite.unknown import IN_LAMBDA
from capturelint.verdict import Certainty, Culprit, Place
from tests.unit.rewrite.cases import Example, judged

if TYPE_CHECKING:
    from pathlib import Path

    from capturelint.verdict import Report
    from tests.conftest import InFork

_HEAD = """\
import torch


def inputs(seed):
    return (torch.randn(4, 8, generator=torch.Generator().manual_seed(seed)),)


class Other(torch.nn.Module):
    def forward(self, x):
        return x


class Model(torch.nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            x = x * 2
"""
_BRANCH = _HEAD.count("\n") - 1
_NEW = "        x = torch.where(x.sum() > 0, x * 2, x)\n"
_WAITS = "the host waits for the device; leave it out"
_LISTS = "`x.tolist()` gives Python as many numbers"
_MANY = "`x.nonzero()` has as many elements as values say"


def _report(folder: Path, lines: list[str], *, is_partial: bool) -> Report:
    path = folder / "m.py"
    body = "".join(f"        {line}\n" for line in lines)
    path.write_text(f"{_HEAD}{body}", encoding="utf-8")
    example = Example(path, "Model", "inputs", "", "", is_clean=False, trains=False)
    return judged(example, is_partial=is_partial)


_LINES = [
    (["torch.cuda.synchronize()", "return x"], {1: _WAITS}),
    (["n = len(x.tolist())", "return x * n"], {1: _LISTS}),
    (
        ["torch.cuda.synchronize()", "i = x.nonzero()", "n = len(x.tolist())", "return x * i.sum() * n"],
        {1: _WAITS, 2: _MANY, 3: _LISTS},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("lines", "stays"), _LINES)
def test_beside_lines_that_nothing_rewrites_a_part_is_rewritten_if_that_is_asked_for(
    tmp_path: Path, in_fork: InFork, lines: list[str], stays: dict[int, str]
) -> None:
    in_fork(partial(_is_rewritten_in_part, tmp_path, lines, stays))


def _is_rewritten_in_part(folder: Path, lines: list[str], stays: dict[int, str]) -> None:
    report = _report(folder, lines, is_partial=True)
    (rewrite,) = report.rewrites
    told = {one.place.line - _BRANCH - 1: one.reason for one in report.kept}

    assert _NEW in rewrite.text
    assert [place.line for place in rewrite.places] == [_BRANCH]
    assert sorted(told) == sorted(stays)
    for at, reason in told.items():
        assert reason.startswith(f"line {at + _BRANCH + 1}: {stays[at]}")


@pytest.mark.parametrize(("lines", "stays"), _LINES[:2])
def test_else_all_stays_for_the_line_that_nothing_rewrites(
    tmp_path: Path, in_fork: InFork, lines: list[str], stays: dict[int, str]
) -> None:
    in_fork(partial(_all_stays, tmp_path, lines, stays))


def _all_stays(folder: Path, lines: list[str], stays: dict[int, str]) -> None:
    report = _report(folder, lines, is_partial=False)
    ((at, why),) = stays.items()
    line = _BRANCH + 1 + at

    assert report.rewrites == ()
    assert [one.place.line for one in report.kept] == [_BRANCH, line]
    assert all(one.reason.startswith(f"line {line}: {why}") for one in report.kept)


def test_where_nothing_is_rewritten_each_line_says_its_own_reason(
    tmp_path: Path, in_fork: InFork
) -> None:
    in_fork(partial(_each_says_its_own, tmp_path))


def _each_says_its_own(folder: Path) -> None:
    path = folder / "m.py"
    lines = ["torch.cuda.synchronize()", "return x * len(x.tolist())"]
    body = "".join(f"        {line}\n" for line in lines)
    path.write_text(_HEAD.replace("        return x\n", body), encoding="utf-8")
    report = judged(Example(path, "Other", "inputs", "", "", is_clean=False, trains=False))

    assert [one.reason.partition(": ")[2][:20] for one in report.kept] == [
        _WAITS[:20],
        _LISTS[:20],
    ]


_LAMBDA = """

class Hooked(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_forward_hook(lambda own, given, out: out * out.max().item())

    def forward(self, x):
        return x


class All(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.each = torch.nn.Sequential(Hooked(), Hooked())

    def forward(self, x):
        return self.each(x)
"""


def test_a_lambda_stays_as_one_and_is_told_once(tmp_path: Path, in_fork: InFork) -> None:
    in_fork(partial(_lambda_stays, tmp_path / "m.py"))


def _lambda_stays(path: Path) -> None:
    path.write_text(f"{_HEAD}        return x\n{_LAMBDA}", encoding="utf-8")
    report = judged(Example(path, "All", "inputs", "", "", is_clean=False, trains=False))
    (kept,) = report.kept

    assert kept.reason.partition(": ")[2] == IN_LAMBDA


_PLAIN = """

class Asks(torch.nn.Module):
    limit = 0.5

    def forward(self, x):
        if self.limit is not None and x.sum() > self.limit:
            x = x * 2
        else:
            x = x * 3
        return x


class Finds(torch.nn.Module):
    limits = [torch.tensor(0.5)]

    def forward(self, x):
        if x.sum() in self.limits or x.sum() > 0:
            x = x * 2
        return x
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Asks", "`self.limit is not None` asks no tensor for its value"),
        ("Finds", "`in` reads a tensor in its own way"),
    ],
)
def test_what_python_asks_beside_a_tensor_is_told(
    tmp_path: Path, in_fork: InFork, name: str, why: str
) -> None:
    in_fork(partial(_python_asks, tmp_path / "m.py", name, why))


def _python_asks(path: Path, name: str, why: str) -> None:
    path.write_text(f"{_HEAD}        return x\n{_PLAIN}", encoding="utf-8")
    report = judged(Example(path, name, "inputs", "", "", is_clean=False, trains=False))

    assert [one.reason.partition(": ")[2][: len(why)] for one in report.kept] == [why]


_NESTED = """

def step():
    def run(self, x):
        if x.sum() > 0:
            x = x * 2
        return x

    return type("Made", (torch.nn.Module,), {"forward": run})()


def model():
    class Model(torch.nn.Module):
        def forward(self, x):
            return x * len(x.tolist())

    return Model()


class Twice(torch.nn.Module):
    many = 1

    @property
    def size(self):
        return len(self.x.tolist())

    @size.setter
    def size(self, many):
        self.many = many

    def forward(self, x):
        self.x = x
        return x * self.size
"""


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("step", "it stands in a function inside of another"),
        ("model", "it stands in a function inside of another"),
        ("Twice", "its file defines it more than once"),
    ],
)
def test_a_function_stays_for_where_it_stands(
    tmp_path: Path, in_fork: InFork, name: str, why: str
) -> None:
    in_fork(partial(_stays_there, tmp_path / "m.py", name, why))


def _stays_there(path: Path, name: str, why: str) -> None:
    path.write_text(f"{_HEAD}        return x\n{_NESTED}", encoding="utf-8")
    report = judged(Example(path, name, "inputs", "", "", is_clean=False, trains=False))

    assert report.rewrites == ()
    assert [one.reason[: len(why)] for one in report.kept] == [why]


def _culprit(line: int, effect: Effect = Effect.REFUSES) -> Culprit:
    return Culprit("", "M", Place("m.py", line), "", effect, Certainty.SHOWN, "", "")


def test_a_line_is_untouched_where_its_text_and_what_is_wrong_are_the_same() -> None:
    # A form feed and the like end no line of Python.
    file = File("", "b\nd # \x0b\x1c\nb\n", "a\nb\nc # \f\u2028\nb\n", (2, 3, 4, 5))
    before = [_culprit(1), _culprit(2), _culprit(4)]

    assert untouched(_culprit(1), file, before) == before[1:2]
    assert untouched(_culprit(2), file, before) == []
    assert untouched(_culprit(3), file, before) == before[2:]
    assert untouched(_culprit(1, Effect.STALE), file, before) == []


_TWICE = [
    "if x.mean() > 0:",
    "    self.count = 1",
    "y = x * 3",
    "if x.mean() > 0:",
    "    y = y * 2",
    "y = y + 1",
    "if x.mean() > 0:",
    "    self.count = 2",
    "return y * x.max().item() + y.min().item() ** self.count",
]


def test_of_lines_of_one_text_each_has_its_own_reason(tmp_path: Path, in_fork: InFork) -> None:
    in_fork(partial(_each_of_one_text, tmp_path))


def _each_of_one_text(folder: Path) -> None:
    report = _report(folder, _TWICE, is_partial=True)
    (rewrite,) = report.rewrites
    at = _BRANCH + 2

    assert [place.line for place in rewrite.places] == [_BRANCH, at + 3]
    assert [(one.place.line, one.reason.partition(":")[0]) for one in report.kept] == [
        (at, f"line {at + 1}"),
        (at + 6, f"line {at + 7}"),
        (at + 8, f"line {at + 8}"),
    ]
