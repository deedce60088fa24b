"""Conditions and values that go over several lines, and the comments inside of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

torch = pytest.importorskip("torch")

from capturelint.rewrite.patterns import branch  # noqa: E402 - needs torch
from tests.unit.rewrite.observing import written  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

HEAD = "def step(x):\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "if (\n    x.mean() > 0\n    and x.sum() > 1\n):\n    x = x * 2\nreturn x",
            "x = torch.where(torch.logical_and(x.mean() > 0, x.sum() > 1), x * 2, x)\nreturn x",
        ),
        (
            "y = x\nif x.mean() > 0:  # a\n    y = (\n        x  # b\n        * 2\n    )\nreturn y",
            (
                "y = x\n# a\ny_ = (x  # b\n        * 2)\n"
                "y = torch.where(x.mean() > 0, y_, y)\nreturn y"
            ),
        ),
    ],
)
def test_what_stood_in_parentheses_stays_in_them(old: str, new: str) -> None:
    found = written(cast("Pattern", branch), old, torch.ones(3), head=HEAD)

    assert found == new
