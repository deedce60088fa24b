"""Branches that `bisect --fix` rewrites, and those that it leaves alone, on the simulator."""

from __future__ import annotations

import re
from importlib.util import find_spec

import pytest

from capturelint.bundle import bundled
from capturelint.verdict import Verdict
from tests.conftest import InFork
from tests.unit.rewrite.cases import classes, judged

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]

BEFORE = bundled("fixtures") / "rewrites" / "branches.py"
OLD = classes(BEFORE.read_text(encoding="utf-8"))
NEW = classes(BEFORE.with_suffix(".fixed.py").read_text(encoding="utf-8"))
KEPT = {name: found[1] for name, text in OLD.items() if (found := re.search(r"# kept: (.*)", text))}
MENDED = [name for name in OLD if name not in KEPT and not name.startswith("_")]


def _inputs(name: str) -> str:
    """Return the name of what makes the inputs of a class."""
    arguments = re.search(r"def forward\(self, (.*?)\)", OLD[name])
    assert arguments is not None
    names = re.findall(r"(\w): Tensor", arguments[1])
    return {"x": "inputs", "xy": "pairs", "xn": "counts"}["".join(names)]


@pytest.mark.parametrize("name", MENDED)
def test_a_branch_is_rewritten_as_shown(name: str, in_fork: InFork) -> None:
    in_fork(lambda: _is_rewritten(name))


def _is_rewritten(name: str) -> None:
    report = judged(BEFORE, name, _inputs(name))
    (rewrite,) = report.rewrites

    assert report.verdict is Verdict.REFUSES
    assert report.kept == ()
    assert classes(rewrite.text) == {**OLD, name: NEW[name]}
    assert OLD[name] != NEW[name]
    assert rewrite.notes[0].startswith("the same bit for bit, gradients too, in the shapes ")


@pytest.mark.parametrize("name", KEPT)
def test_a_branch_that_cannot_be_proven_stays_with_a_reason(name: str, in_fork: InFork) -> None:
    in_fork(lambda: _stays(name))


def _stays(name: str) -> None:
    report = judged(BEFORE, name, _inputs(name))

    assert report.verdict is Verdict.REFUSES
    assert report.rewrites == ()
    assert OLD[name] == NEW[name]
    assert report.kept
    assert all(KEPT[name] in one.reason for one in report.kept), report.kept


@pytest.mark.parametrize("name", MENDED)
def test_what_was_rewritten_has_nothing_to_rewrite(name: str, in_fork: InFork) -> None:
    in_fork(lambda: _has_nothing_to_rewrite(name))


def _has_nothing_to_rewrite(name: str) -> None:
    report = judged(BEFORE.with_suffix(".fixed.py"), name, _inputs(name))

    assert not report.verdict.is_failure
    assert report.rewrites == ()
