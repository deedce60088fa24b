"""What a call leaves in attributes of self that the next call reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.marked import marked

_CLASS = """
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kept", torch.zeros(4))
        self.rows = []

    def forward(self, x: Tensor, flag=True):
"""


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y = x + self.kept\nself.kept = y\nreturn y", "REBOUND self.kept = y"),
        ("self.kept = self.kept * 2\nreturn x", "REBOUND self.kept = self.kept * 2"),
        (
            "y = x + self.rows[0]\nself.rows = (y, x * 2)\nreturn y",
            "REBOUND self.rows = (y, x * 2)",
        ),
        (
            "y = x + self.rows[0]\npair = [x, y]\nself.rows = pair\nreturn y",
            "REBOUND self.rows = pair",
        ),
        (
            "y = x + self.rows[0]\nself.rows = (self.rows[1], y)\nreturn y",
            "REBOUND self.rows = (self.rows[1], y)",
        ),
        ("y = x + self.rows[0]\nself.rows = x, flag\nreturn y", "RETAINED self.rows = x, flag"),
        (
            "y = x + self.rows[0]\nself.rows = [torch.cat([self.rows[0], x])]\nreturn y",
            "GROWN self.rows = [torch.cat([self.rows[0], x])]",
        ),
        ("y = x + self.kept\nself.kept = x.clone()\nreturn y", "REBOUND self.kept = x.clone()"),
        ("y = x + self.kept\nself.kept = x\nreturn y", "RETAINED self.kept = x"),
        (
            "y = x + self.kept\nself.kept = x.detach()[0]\nreturn y",
            "REBOUND self.kept = x.detach()[0]",
        ),
        (
            "self.kept = torch.cat([self.kept, x])\nreturn self.kept",
            "GROWN self.kept = torch.cat([self.kept, x])",
        ),
        ("self.rows.append(x * 2)\nreturn sum(self.rows)", "GROWN self.rows.append(x * 2)"),
        ("self.rows.extend([x, x])\nreturn sum(self.rows)", "GROWN self.rows.extend([x, x])"),
        ("if flag:\n    self.kept = self.kept * 2\nreturn x", "REBOUND self.kept = self.kept * 2"),
        (
            "for _ in range(2):\n    x = x + self.kept\n    self.kept = x * 2\nreturn x",
            "REBOUND self.kept = x * 2",
        ),
        (
            "y = self.read(x)\nself.kept = y\nreturn y\n\ndef read(self, x):\n    return x + self.kept",
            "REBOUND self.kept = y",
        ),
        (
            "y = x + self.kept\nself.write(y)\nreturn y\n\ndef write(self, y):\n    self.kept = y * 2",
            "REBOUND self.kept = y * 2",
        ),
        (
            (
                "return self.one(x)\n\ndef one(self, x):\n    return self.two(x + self.kept)\n"
                "def two(self, x):\n    self.kept = x * 2\n    return self.one(x)"
            ),
            "REBOUND self.kept = x * 2",
        ),
        (
            (
                "if not flag:\n    x = x + self.kept\nif flag:\n    self.write(x)\nself.write(x)\n"
                "return x\n\ndef write(self, y):\n    self.kept = y * 2"
            ),
            "REBOUND self.kept = y * 2",
        ),
    ],
)
def test_what_the_next_call_reads_is_marked(body: str, found: str, tmp_path: Path) -> None:
    assert marked(tmp_path, _in_forward(body)) == [found]


@pytest.mark.parametrize(
    "body",
    [
        "self.kept = x * 2\nreturn x + self.kept",
        "self.kept = x * 2\nreturn x",
        "self.kept += x.mean(0)\nreturn x + self.kept",
        "y = x + self.kept\nself.kept.copy_(x[0])\nreturn y",
        "y = x.new_zeros(self.kept.shape)\nself.kept = x * 2\nreturn y",
        "if self.kept is not None:\n    x = x * 2\nself.kept = x * 2\nreturn x",
        "y = x + self.kept\nself.kept = None\nreturn y",
        "y = x + self.kept\nself.kept = x * 2\nself.kept = None\nreturn y",
        "if flag:\n    self.kept = x * 2\nelse:\n    x = x + self.kept\nreturn x",
        "if flag:\n    self.kept = x * 2\n    return x\nreturn x + self.kept",
        "if flag:\n    self.kept = x * 2\nif flag:\n    x = x + self.kept\nreturn x",
        "self.kept = self.kept.to(x.device)\nreturn x + self.kept",
        "if self.kept is None:\n    self.kept = x * 2\nreturn x + self.kept",
        "self.rows.append(x * 2)\nreturn x",
        "self.rows.append(x * 2)\nprint(len(self.rows))\nreturn x",
        "self.rows = []\nself.rows.append(x * 2)\nreturn sum(self.rows)",
        "self.rows.clear()\nself.rows.append(x * 2)\nreturn sum(self.rows)",
        "self.rows.append(x.shape)\nprint(self.rows)\nreturn x",
        "self.write(x)\nreturn x + self.kept\n\ndef write(self, y):\n    self.kept = y * 2",
        "self.kept = x * 2\nreturn self.read(x)\n\ndef read(self, x):\n    return x + self.kept",
        (
            "self.write(x)\nreturn self.read(x)\n\ndef write(self, y):\n    self.kept = y * 2\n"
            "def read(self, x):\n    return x + self.kept"
        ),
        (
            "if flag:\n    self.write(x)\nelse:\n    x = self.read(x)\nreturn x\n\n"
            "def write(self, y):\n    self.kept = y * 2\n"
            "def read(self, x):\n    return self.inner(x)\n"
            "def inner(self, x):\n    return x + self.kept"
        ),
    ],
)
def test_what_no_later_call_reads_is_let_be(body: str, tmp_path: Path) -> None:
    assert marked(tmp_path, _in_forward(body)) == []


def test_an_object_that_lives_for_one_call_keeps_nothing(tmp_path: Path) -> None:
    text = """
class Sum:
    def __init__(self, x: Tensor):
        self.total = x

    def add(self, x: Tensor):
        self.total = self.total + x

def step(x: Tensor):
    total = Sum(x)
    total.add(x)
    return total.total
"""

    assert marked(tmp_path, text) == []


def _in_forward(use: str) -> str:
    """Return the class with statements put in `forward`, after which methods may follow."""
    body, _, methods = use.partition("\n\n")
    lines = [f"        {line}" for line in body.splitlines()]
    lines += [f"    {line}" for line in methods.splitlines()]
    return _CLASS + "\n".join(lines) + "\n"
