"""A few random programs through `bisect --fix`; `tests/bench/fuzz_rewrites.py` runs many."""

from __future__ import annotations

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.programs import HEAD, program
from tests.rewritten_programs import MAKER

if TYPE_CHECKING:
    from tests.conftest import InFork

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]

_PLAIN = (
    HEAD
    + """\
        a = x * 1.5
        b = y + 0.25
        pos = x > 0
        if a.sum() > 1:
            self.seen += 1
        return x, y * pos, a + b
"""
)
# Of some seeds those of which something was rewritten: what stays tells nothing.
_REWRITTEN = (
    *(10405, 10406, 10409, 10411, 10412, 10413, 10415, 10416, 10420, 10421, 10423, 10428),
    *(10430, 10432, 10433, 10435, 10442, 10448, 10449, 10450, 10451, 10455, 10456, 10458),
    110021,  # returns the float64 of a sum of float32, whose order may differ
)
_SEEDS = (*range(76), *_REWRITTEN)


def test_a_program_is_the_same_for_the_same_seed() -> None:
    assert program(3) == program(3)
    assert len({program(seed) for seed in range(100)}) > 95


def test_no_rewrite_of_a_random_program_is_wrong(tmp_path: Path) -> None:
    from tests.rewritten_programs import outcomes

    found = list(outcomes(_SEEDS, tmp_path))

    assert not [one for one in found if one.kind in ("wrong", "died")]
    assert sum(one.kind == "patched" for one in found) >= len(_SEEDS) // 3


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x * 1.5", "x * 1.5000001 * 1.01"),
        ("a + b", "(a + b).t().contiguous().t()"),
        ("x > 0", "x >= 0"),
        ("b = y + 0.25", "b = y.add_(0.25)"),
        ("pos = x > 0", "pos = (x > 0) & (torch.rand(()) < 2)"),
        ("b = y + 0.25", "b = y.detach() + 0.25"),
        ("y + 0.25", "y + 0.25 * (self.seen.sum() < 2.5)"),
        ("y + 0.25", "y + (0.25 if y.numel() == 12 else 0.5)"),
        ("y + 0.25", "y + (0.25 if not y.isinf().any() else 0.5)"),
    ],
)
def test_the_judge_of_programs_tells(old: str, new: str) -> None:
    pytest.importorskip("torch")
    from tests.program_judge import difference

    assert old in _PLAIN
    assert difference(_PLAIN, _PLAIN, trains=True) == ""
    assert difference(_PLAIN, _PLAIN.replace(old, new), trains=True)


# Programs of which a patch was wrong once, and what it was on.
_ONCE_WRONG = {
    "the mean of an empty mask, which the other arm does not use": """\
        a = x * 1.5 + x[m].mean()
        b = y + 0.25
        if b.norm() > 2:
            return x, y, y.softmax(0)
        return a / a.norm(), y, a * b
""",
}


@pytest.mark.parametrize("name", _ONCE_WRONG)
def test_what_was_wrong_once_is_right(name: str, tmp_path: Path, in_fork: InFork) -> None:
    in_fork(partial(_check_patch, HEAD + _ONCE_WRONG[name] + MAKER, tmp_path / "program.py"))


def _check_patch(text: str, path: Path) -> None:
    from tests.program_judge import difference
    from tests.rewritten_programs import rewritten

    new = rewritten(path, text, trains=False)
    assert new != text
    assert difference(text, new, trains=False) == ""


# Of a tensor that lies otherwise the old code raised, where its first arm did not count; a choice lies anew.
_OF_OTHER_LAYOUT = """\
        a = x.cumsum(0)
        if a.mean() > 0:
            x = a * 2
        x = x.view(4, 3).view(3, 4)
        return x, y, a * y
"""


def test_inputs_that_lie_otherwise_are_tried(tmp_path: Path, in_fork: InFork) -> None:
    path = tmp_path / "program.py"
    in_fork(partial(_check_kept, HEAD + _OF_OTHER_LAYOUT + MAKER, path, "lie otherwise in memory"))


def _check_kept(text: str, path: Path, why: str) -> None:
    from capturelint.rewrite.proof.kept import KeptError
    from tests.rewritten_programs import rewritten

    with pytest.raises(KeptError, match=why):
        rewritten(path, text, trains=False)
