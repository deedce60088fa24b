"""A few random programs through `bisect --fix`; `python -m tests.rewritten_programs` runs many."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.programs import program

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed"),
]

_SEEDS = range(20)  # each takes seconds


def test_a_program_is_the_same_for_the_same_seed() -> None:
    assert program(3) == program(3)
    assert len({program(seed) for seed in range(100)}) == 100


def test_no_rewrite_of_a_random_program_is_wrong(tmp_path: Path) -> None:
    from tests.rewritten_programs import outcomes

    found = {seed: (kind, why) for seed, kind, why in outcomes(_SEEDS, tmp_path)}

    assert not {seed: one for seed, one in found.items() if one[0] in ("wrong", "died")}
    assert sum(kind == "patched" for kind, _ in found.values()) >= len(_SEEDS) // 5
