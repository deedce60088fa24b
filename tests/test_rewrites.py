"""Examples that `bisect --fix` rewrites, and those that it leaves alone, on the simulator."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.conftest import InFork
from tests.unit.rewrite.cases import Example, classes, examples, judged

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
    # Torch says so of `float(x)` with gradients, once in a process: what examples do on purpose.
    pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad=True"),
]

ALL = examples()
MENDED = [one for one in ALL if one.is_rewritten]
KEPT = [one for one in ALL if one.kept]
CLEAN = [one for one in ALL if one.is_clean]
# So many are rewritten, and no fewer.
_LEAST = 50


def _named(example: Example) -> str:
    return example.name


def test_there_are_examples_of_all_outcomes() -> None:
    assert len(MENDED) >= _LEAST
    assert len(KEPT) >= 40
    assert len({(one.path, one.name) for one in ALL}) == len(ALL)


@pytest.mark.sweep(9)
@pytest.mark.parametrize("example", MENDED, ids=_named)
def test_an_example_is_rewritten_as_shown(example: Example, in_fork: InFork) -> None:
    in_fork(lambda: _is_rewritten(example))


def _is_rewritten(example: Example) -> None:
    report = judged(example)
    assert report.verdict.is_failure
    assert report.kept == ()
    (rewrite,) = report.rewrites
    old = classes(example.path.read_text(encoding="utf-8"))
    shown = classes(example.fixed.read_text(encoding="utf-8"))[example.name]

    assert classes(rewrite.text) == {**old, example.name: shown}
    assert shown != example.text
    assert rewrite.notes[0].startswith(
        ("the same bit for bit, gradients of", "the same within tolerance, gradients of",
         "the same bit for bit, not run with gradients, ")
    )  # fmt: skip


@pytest.mark.sweep(8)
@pytest.mark.parametrize("example", KEPT, ids=_named)
def test_what_cannot_be_proven_stays_with_a_reason(example: Example, in_fork: InFork) -> None:
    in_fork(lambda: _stays(example))


def _stays(example: Example) -> None:
    report = judged(example)

    assert report.verdict.is_failure
    assert report.rewrites == ()
    assert report.kept
    assert any(example.kept in one.reason for one in report.kept), report.kept


@pytest.mark.parametrize("example", CLEAN, ids=_named)
def test_what_replays_equal_has_nothing_to_rewrite(example: Example, in_fork: InFork) -> None:
    in_fork(lambda: _is_clean(example))


def _is_clean(example: Example) -> None:
    report = judged(example)

    assert not report.verdict.is_failure
    assert (report.rewrites, report.kept) == ((), ())


@pytest.mark.sweep(18)
@pytest.mark.parametrize("example", MENDED, ids=_named)
def test_what_was_rewritten_has_nothing_to_rewrite(example: Example, in_fork: InFork) -> None:
    in_fork(lambda: _has_nothing_to_rewrite(example))


def _has_nothing_to_rewrite(example: Example) -> None:
    report = judged(example, example.fixed)

    assert not report.verdict.is_failure
    assert report.rewrites == ()


def test_of_a_function_a_part_is_rewritten_if_that_is_asked_for(in_fork: InFork) -> None:
    in_fork(_is_rewritten_in_part)


def _is_rewritten_in_part() -> None:
    (example,) = (one for one in ALL if one.name == "InPart")
    report = judged(example, is_partial=True)
    (rewrite,) = report.rewrites
    text = classes(rewrite.text)["InPart"]

    assert "x = torch.where(x.mean() > 0, x * 2, x)" in text
    assert "x.nonzero()" in text
    assert [place.source for place in rewrite.places] == ["if x.mean() > 0:"]
    assert ["as many elements as values say" in one.reason for one in report.kept] == [True]


_MADE_BEFORE = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return x[:, [4, 0, 7]]


MODEL = Model().eval()


def make():
    return MODEL


def inputs(seed):
    return (torch.randn(3, 9, generator=torch.Generator().manual_seed(seed)),)
"""


def test_a_module_that_is_not_made_anew_gets_no_buffers(tmp_path: Path, in_fork: InFork) -> None:
    path = tmp_path / "made_before.py"
    path.write_text(_MADE_BEFORE, encoding="utf-8")
    in_fork(lambda: _gets_no_buffers(path))


def _gets_no_buffers(path: Path) -> None:
    report = judged(Example(path, "make", "inputs", "", "", is_clean=False, trains=False))

    assert report.rewrites == ()
    assert [one.reason.startswith("made anew, the case does not run: ") for one in report.kept] == [
        True
    ]


_ROWS_OF_A_BUFFER = """\
import torch
from torch import nn


class Filled(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", torch.zeros(3, 5))

    def forward(self, x, n):
        held = self.held.zero_()
        for i, k in enumerate(n.tolist()):
            held[i, :k] = 1
        return x * held.sum()


class Stored(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("held", torch.zeros(3, 5))

    def forward(self, x, n):
        i = (n > 2).nonzero().squeeze(-1)
        self.held[i] += x[i]
        return self.held * 1


def inputs(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(3, 5, generator=g), torch.randint(6, (3,), generator=g)
"""


def test_a_buffer_may_have_more_rows_than_the_inputs(tmp_path: Path, in_fork: InFork) -> None:
    path = tmp_path / "rows.py"
    path.write_text(_ROWS_OF_A_BUFFER, encoding="utf-8")
    in_fork(lambda: _stays_of_rows(path))


def _stays_of_rows(path: Path) -> None:
    stored = judged(Example(path, "Stored", "inputs", "", "", is_clean=False, trains=False))
    filled = judged(Example(path, "Filled", "inputs", "", "", is_clean=False, trains=False))

    assert stored.rewrites == ()
    (kept,) = stored.kept
    assert kept.reason.startswith("not the same with inputs of row ")
    (rewrite,) = filled.rewrites
    assert "held[:n.shape[0]].masked_fill_(" in rewrite.text


_BASE = """\
import torch
from torch import Tensor, nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        return x[:, [4, 0, 7]]
"""
_DERIVED = """\
import torch
from rows_base import Base


class Derived(Base):
    def __init__(self):
        super().__init__()

    def forward(self, x):
        return super().forward(x) + x[:, [1, 2, 8]]


def inputs(seed):
    return (torch.randn(3, 9, generator=torch.Generator().manual_seed(seed)),)
"""


def test_a_module_gets_one_buffer_of_a_name(
    tmp_path: Path, in_fork: InFork, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rows_base.py").write_text(_BASE, encoding="utf-8")
    path = tmp_path / "rows_derived.py"
    path.write_text(_DERIVED, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    in_fork(lambda: _gets_one(path))


def _gets_one(path: Path) -> None:
    report = judged(Example(path, "Derived", "inputs", "", "", is_clean=False, trains=False))

    assert [Path(one.path).name for one in report.rewrites] == ["rows_base.py"]
    assert [one.reason for one in report.kept] == [
        "`Base` in another file gets a buffer `rows_` too"
    ]
