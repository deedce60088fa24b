"""Sizes and turns that a tensor gives stay, with what to do by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

torch = pytest.importorskip("torch")

from capturelint.rewrite.patterns import unbounded  # noqa: E402 - needs torch
from tests.unit.rewrite.observing import written  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("y = x[:n]", "`x[:n]` has as many elements as values say; take the largest size"),
        ("y = x[:, n:]", "`x[:, n:]` has as many elements as values say; take the largest size"),
        ("y = torch.arange(n)", "`torch.arange(n)` has as many elements as values say; take the largest"),
        ("for _ in range(n):\n    x = x + 1", "`range(n)` has as many turns as values say; choose a maximum"),
        ("(i,) = torch.where(x > 0)[:1]", "`torch.where(x > 0)` has as many elements as values say"),
        ("y = x[n]", ""),
        ("y = torch.full((2,), n)", ""),
        ("y = torch.where(x > 0, x, n)", ""),
    ],
)  # fmt: skip
def test_what_to_do_by_hand_is_said(body: str, words: str) -> None:
    given = (torch.ones(4, 3), torch.tensor(2))
    said = written(
        cast("Pattern", unbounded), f"{body}\nreturn x", *given, head="def step(x, n):\n"
    )

    assert (said[: len(words)] if words else said) == words
