"""Blocks that only the first call runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


@pytest.mark.parametrize(
    "block",
    [
        "if self.table is None:\n    {mark}\n    self.table = x",
        "if self.table is None or self.table.size(0) < x.shape[0]:\n    {mark}\n    self.table = x",
        "if self.table is None and x.shape[0] > 3:\n    {mark}\n    self.table = x",
        "table = self.table\nif table is None:\n    {mark}\n    self.table = x",
        "if not self.ready:\n    {mark}\n    self.setup()",
        "if not hasattr(self, 'table'):\n    {mark}\n    self.table = x",
        "if not self.ready:\n    {mark}\n    self.ready = True",
        "if 3 not in self.cache:\n    {mark}\n    self.cache[3] = x",
        "if 3 not in self.seen:\n    {mark}\n    self.seen.add(3)",
        "if self.table is None:\n    {mark}\n    self.register_buffer('table', x)",
        "if self.table is None:\n    with torch.no_grad():\n        {mark}\n        self.table, b = x, 1",
        "if 3 not in _CACHE:\n    {mark}\n    _CACHE[3] = x",
        "if 3 not in table_cache:\n    {mark}\n    table_cache[3] = x",
    ],
)
def test_what_makes_what_was_missing_runs_once(block: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _in_forward(block, "x  #: never runs"))

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "block",
    [
        "if self.table is not None:\n    {mark}\n    self.table = x",
        "if self.table is None:\n    {mark}\n    self.other = x",
        "if self.table is None or x.shape[0] == 3:\n    {mark}\n    self.table = x",
        "if self.table is None or self.size < 3:\n    {mark}\n    self.table = x",
        "table = self.other\nif table is None:\n    {mark}\n    self.table = x",
        "if not self.ready:\n    {mark}\n    self.unrelated()",
        "if self.table is None:\n    {mark}\n    table = x",
        "if hasattr(self, 'table'):\n    {mark}\n    self.table = x",
        "if self.ready:\n    {mark}\n    self.ready = False",
        "if 3 in self.cache:\n    {mark}\n    self.cache[3] = x",
        "if 3 not in local:\n    {mark}\n    local[3] = x",
        "if meta_state.x is None:\n    {mark}\n    meta_state.x = x",
        "if 3 not in self.seen:\n    pass\nelse:\n    {mark}",
        "if self.table is None:\n    self.table = x\n{mark}",
    ],
)
def test_what_may_run_in_each_call_is_captured(block: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _in_forward(block, "x  #: device tensor"))

    assert told.seen == told.wanted


def test_what_follows_a_look_into_a_cache_runs_once(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        _TABLES = {}

        def table(x, n):
            x  #: device tensor
            if n in _TABLES:
                return _TABLES[n]
            x  #: never runs
            _TABLES[n] = x * n
            return _TABLES[n]

        def unfilled(x, n):
            if n in _TABLES:
                return _TABLES[n]
            x  #: device tensor
            return x

        def step(x: Tensor):
            table(x, 3)
            unfilled(x, 3)
        """,
    )

    assert told.seen == told.wanted


def test_what_the_first_call_made_is_known_afterwards(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = None

            def forward(self, x: Tensor):
                if self.table is None:
                    self.table = x.cpu()
                self.table  #: host tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("decorator", ["functools.lru_cache(None)", "functools.cache", "cache"])
def test_a_function_that_remembers_its_results_is_not_captured(
    decorator: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        import functools
        from functools import cache

        @{decorator}
        def table(n) -> Tensor:
            n  #: never runs

        def step(x: Tensor):
            table(3)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def _in_forward(block: str, mark: str) -> str:
    lines = block.replace("{mark}", mark).splitlines()
    body = "".join(f"        {line}\n" for line in lines)
    return f"""
_CACHE, table_cache = {{}}, {{}}

class Model(nn.Module):
    def setup(self): self.ready = True
    def unrelated(self): self.size = 3
    def forward(self, x: Tensor, meta_state=None, local=None):
{body}"""


def test_a_parameter_is_no_cache_whatever_its_name(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        _TABLE = None

        def step(x: Tensor, cache_position: Tensor | None = None, _seen: list | None = None):
            global _TABLE
            if cache_position is None:
                x  #: device tensor
                cache_position = x
            if _seen is None and x.shape[0] > 2:
                x  #: device tensor
                _seen = [x]
            if _TABLE is None:
                x  #: never runs
                _TABLE = x
        """,
    )

    assert told.seen == told.wanted


def test_a_parameter_that_is_returned_when_given_is_no_cache(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        _TABLE = None

        def given(x, cache=None):
            if cache is not None:
                return cache
            x  #: device tensor
            cache = x + 1
            return cache

        def kept(x):
            global _TABLE
            if _TABLE is not None:
                return _TABLE
            x  #: never runs
            _TABLE = x + 1
            return _TABLE

        def step(x: Tensor):
            return given(x), kept(x)
        """,
    )

    assert told.seen == told.wanted
