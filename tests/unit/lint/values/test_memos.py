"""What is looked up in a memo, under a local name or not: what fills it runs in the first call only."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


def _in_forward(block: str, mark: str) -> str:
    lines = block.replace("{mark}", mark).splitlines()
    body = "".join(f"        {line}\n" for line in lines)
    return f"""
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.t = self.key = None
        self.cache, self.ready, self.limit = {{}}, False, 0

    def setup(self, x): self.ready = x

class Model(Base):
    def unrelated(self, x): self.size = x
    def forward(self, x: Tensor, key: str, n: int, metadata=None):
{body}"""


@pytest.mark.parametrize(
    "block",
    [
        "t = self.t\nif t is None:\n    {mark}\n    t = x\n    self.t = t",
        "t = self.t\nif t is None or t.shape[0] < n:\n    {mark}\n    t = self.t = x",
        "t = getattr(self, 't', None)\nif t is None:\n    {mark}\n    self.t = x",
        "t = getattr(self, 't', None)\nif t is None:\n    {mark}\n    setattr(self, 't', x)",
        "t = getattr(self, key, None)\nif t is None:\n    {mark}\n    setattr(self, key, x)",
        "t = self.t\nif t is not None and t.shape[0] >= n:\n    return t\n{mark}\nself.t = x",
        "t = self.t\nif t is not None:\n    return t\n{mark}\nself.t = x",
        "t = self.t[n]\nif t is None:\n    {mark}\n    self.t[n] = x",
        "t = self.cache.get(key)\nif t is None:\n    {mark}\n    self.cache[key] = x",
        "t = self.cache.get(key)\nif t is not None:\n    return t\n{mark}\nself.cache[key] = x",
        "t = self.find(key)\nif t is None:\n    {mark}\n    self.cache[key] = x",
        "t = self.find(key)\nif t is not None:\n    return t\n{mark}\nself.cache[key] = x",
        "if self.cache.get(key) is None:\n    {mark}\n    self.cache[key] = x",
        "if n and not self.cache.get(key):\n    {mark}\n    self.cache[key] = True",
        "if self.cache.get(key) is not None:\n    return\n{mark}\nself.cache[key] = True",
        "if key in self.cache:\n    return self.cache[key]\n{mark}\nself.cache[key] = x",
        "if self.key == key:\n    return self.t\n{mark}\nself.key = key",
        "if self.key != key:\n    {mark}\n    self.key = key",
        "if hasattr(self, 't'):\n    return self.t\n{mark}\nself.t = x",
        "if hasattr(self, 't'):\n    return\n{mark}\nself.setup(x)",
        "if n > self.t.size(0):\n    {mark}\n    self.t = x",
        "if self.t.shape[0] < n:\n    {mark}\n    self.t = x",
        "if self.t is None or n > self.t.size(0):\n    {mark}\n    self.t = x",
        "if n >= self.limit:\n    {mark}\n    self.limit = n * 2",
        "if not self.ready:\n    {mark}\n    self.setup(x)",
        "if self.ready is None:\n    {mark}\n    self.setup(x)",
    ],
)
def test_what_fills_a_memo_runs_once(block: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _in_forward(block, "x  #: never runs"))

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "block",
    [
        "t = self.t\nif t is None:\n    {mark}\n    self.other = x",
        "t = self.t\nt = x\nif t is None or n:\n    {mark}\n    self.t = x",
        "t = getattr(self, 't', None)\nif t is None:\n    {mark}\n    self.other = x",
        "t = self.t\nif t is not None and t.shape[0] >= n:\n    return t\n{mark}\nself.other = x",
        "t = self.t\nif t is not None and n:\n    {mark}\nself.t = x",
        "t = self.t\nif t is not None:\n    return t\nelse:\n    {mark}\nself.t = x",
        "t = self.t\nif t is None:\n    self.t = x\nelse:\n    {mark}",
        "t = self.cache.get(key)\nif t is None:\n    {mark}\n    t = x",
        "t = self.cache.get(key)\nif t is not None:\n    return t\n{mark}\nreturn x",
        "t = self.find(key)\nif t is None:\n    {mark}\n    self.t = x",
        "t = self.find(key)\nif t is not None:\n    return t\n{mark}\nself.t = x",
        "rows = {}\nt = rows.get(key)\nif t is None:\n    {mark}\n    rows[key] = x",
        "if self.cache.get(key) is None:\n    {mark}\n    self.other[key] = x",
        "if not self.cache.find(key):\n    {mark}\n    self.cache[key] = x",
        "if self.key == 3:\n    return self.t\n{mark}\nself.key = key",
        "if self.key != 3:\n    {mark}\n    self.key = key",
        "if hasattr(metadata, 't'):\n    return\n{mark}",
        "if not hasattr(self, 't'):\n    return\n{mark}",
        "if n > self.t.size(0):\n    {mark}\n    self.other = x",
        "if n > 3:\n    {mark}\n    self.t = x",
        "if not self.ready:\n    {mark}\n    self.unrelated(x)",
        "if not self.ready:\n    {mark}\n    setup(x)",
        "if self.ready:\n    {mark}\n    self.setup(x)",
    ],
)
def test_what_fills_no_memo_is_captured(block: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _in_forward(block, "x  #: device tensor"))

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "block",
    [
        "t = getattr(metadata, 't', None)\nif t is None:\n    {mark}\n    metadata.t = x",
        "if hasattr(self, 'fast'):\n    return self.fast(x)\n{mark}",
    ],
)
def test_what_each_step_brings_or_a_subclass_has_is_no_memo(block: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _in_forward(block, "x  #: device tensor"))

    assert told.seen == told.wanted


def test_a_memo_says_what_it_holds_once_it_is_filled(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.moved = None

            def forward(self, x: Tensor):
                t = self.moved
                if t is None:
                    t = x.cpu()
                    self.moved = t
                t  #: host tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("decorator", ["cache", "lru_cache(maxsize=4)", "my_lru_cache"])
def test_a_function_that_remembers_its_results_gives_what_it_makes(
    decorator: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        from functools import cache, lru_cache
        from tools import my_lru_cache

        @{decorator}
        def table(n):
            n  #: never runs
            return torch.zeros(n, device="cuda")

        def step(x: Tensor):
            table(3)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("test", ["_SEEN.get(key) is None", "not _SEEN.get(key)"])
def test_a_module_may_remember_what_it_has_seen(test: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        _SEEN: dict[str, bool] = {{}}

        def step(x: Tensor, key: str):
            if key and {test}:
                _SEEN[key] = True
                x  #: never runs
            x  #: device tensor
        """,
    )

    assert told.seen == told.wanted
