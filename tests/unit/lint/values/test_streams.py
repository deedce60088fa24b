"""CL702 for streams that an attribute or a module holds: what may have them wait, and where."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.unit.lint.probe import found

_HEAD = """
import torch
from torch import nn
from other import given

side = torch.cuda.Stream()

def made():
    return torch.cuda.Stream()

third = made()

def fork():
    side.wait_stream(torch.cuda.current_stream())

class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.side = torch.cuda.Stream()
"""


@pytest.mark.parametrize(
    ("methods", "is_told"),
    [
        ("def forward(self, x):\n    with torch.cuda.stream(side):\n        return x + 1\n", True),
        ("def forward(self, x):\n    with torch.cuda.stream(third):\n        return x + 1\n", True),
        ("def forward(self, x):\n    with torch.cuda.stream(self.side):\n        return x + 1\n", True),
        ("def forward(self, x):\n    with torch.cuda.stream(given):\n        return x + 1\n", False),
        ("def forward(self, x, side: torch.cuda.Stream):\n    with torch.cuda.stream(side):\n        return x\n", False),
        # What is called, and what calls, has the stream wait.
        ("def forward(self, x):\n    fork()\n    with torch.cuda.stream(side):\n        return x + 1\n", False),
        (
            ("def forward(self, x):\n    self.side.wait_stream(torch.cuda.current_stream())\n    return self.inner(x)\n"
            "def inner(self, x):\n    with torch.cuda.stream(self.side):\n        return x + 1\n"),
            False,
        ),
        (
            ("def forward(self, x):\n    fork()\n    return self.inner(x)\n"
            "def inner(self, x):\n    with torch.cuda.stream(side):\n        return x + 1\n"),
            False,
        ),
        (
            ("def forward(self, x):\n    return self.inner(x)\n"
            "def inner(self, x):\n    with torch.cuda.stream(side):\n        return x + 1\n"),
            True,
        ),
        (
            ("def forward(self, x):\n    side = torch.cuda.Stream()\n    def inner():\n        with torch.cuda.stream(side):\n"
            "            return x + 1\n    side.wait_stream(torch.cuda.current_stream())\n    return inner()\n"),
            False,
        ),
    ],
)  # fmt: skip
def test_a_stream_that_is_held_is_astray_where_nothing_around_it_waits(
    methods: str, is_told: bool, tmp_path: Path
) -> None:
    text = _HEAD + textwrap.indent(methods, "    ")
    codes = [one.split()[1] for one in found(tmp_path, {"m.py": text}, select=("CL702",))]

    assert codes == ["CL702"] * is_told
