"""Rows at the positions of a mask, written for all rows, and what is left alone with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402 - needs torch
from torch.nn import functional as F  # noqa: E402, N812

from capturelint.rewrite.allowed import NOTHING, Allowed  # noqa: E402
from capturelint.rewrite.patterns import gathered, masked  # noqa: E402
from tests.unit.rewrite.observing import written  # noqa: E402

if TYPE_CHECKING:
    from torch import Tensor

    from capturelint.rewrite.patterns.order import Pattern


class Own(nn.Module):
    """What is taken for an expert."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(4, 6), nn.Linear(3, 4, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Compute each row for itself."""
        a, b = self.up(x).chunk(2, dim=-1)
        y = F.silu(a) * b
        return F.linear(y, self.down.weight)


class Mixing(nn.Module):
    """What none may be taken for."""

    def forward(self, x: Tensor) -> Tensor:
        """Mix the rows."""
        return x - x.mean(0)


HEAD = """\
def step(x, w, sel, m, experts, mixing):
    y = torch.zeros_like(x)
"""
ALL = Allowed(all_experts=True)


def _written(body: str, allowed: Allowed = NOTHING, by: object = gathered) -> str:
    x, w = torch.randn(5, 4), torch.rand(5, 2)
    sel = torch.tensor([[0, 1], [1, 2], [0, 2], [0, 0], [2, 1]])
    m = torch.tensor([True, False, True, False, False])
    given: tuple[Any, ...] = (x, w, sel, m, [Own(), Own(), Own()], Mixing())
    pattern = cast("Pattern", by)
    new = written(pattern, f"{body}\nreturn y", *given, head=HEAD, allowed=allowed)
    return new.removesuffix("\nreturn y")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i = m.nonzero().squeeze(-1)\ny[i] = x[i] * 2",
         "y.copy_(torch.where(m[..., None], x * 2, y))"),
        ("(i,) = torch.where(w[:, 0] > 0.5)\ny[i] += x[i]",
         "chosen_ = w[:, 0] > 0.5\ny.copy_(torch.where(chosen_[..., None], y + x, y))"),
        ("i = m.nonzero(as_tuple=True)[0]\nif i.numel() > 0:\n    y.index_copy_(0, i, x[i])",
         "y.copy_(torch.where(m[..., None], x, y))"),
        ("i = torch.nonzero(m)[:, 0]\nz = x[i] * w[i, 0, None]\ny.index_add_(dim=0, index=i, source=z)",
         "z = x * w[:, 0, None]\ny.copy_(torch.where(m[..., None], y + z, y))"),
    ],
)  # fmt: skip
def test_rows_at_positions_are_written_for_all_rows(old: str, new: str) -> None:
    assert _written(old) == new


def test_the_weights_of_a_row_are_added_up() -> None:
    old = (
        "for e, expert in enumerate(experts):\n    rows, ks = torch.where(sel == e)\n"
        "    if rows.shape[0] == 0:\n        continue\n"
        "    z = expert(x[rows])\n    z = z * w[rows, ks, None]\n    y.index_add_(0, rows, z.to(y.dtype))"
    )
    new = (
        "for e, expert in enumerate(experts):\n    chosen_ = sel == e\n    rows_ = chosen_.any(-1)\n"
        "    z = expert(x)\n    z = z * w.masked_fill(~chosen_, 0).sum(-1)[:, None]\n"
        "    y.copy_(torch.where(rows_[..., None], y + z.to(y.dtype), y))"
    )

    assert _written(old, ALL) == new
    assert _written(old).startswith(
        "without a choice of rows, all 3 experts run on all rows, and 2 of them for each:"
        " 1.5 times the work of the experts; `--all-experts`"
    )


def test_of_a_mask_that_is_turned_around_the_other_dimension_is_of_rows() -> None:
    old = (
        "ks, rows = torch.where((sel == 1).t())\ny.index_add_(0, rows, x[rows] * w[rows, ks, None])"
    )
    new = _written(old)

    assert "rows_ = chosen_.any(0)" in new
    assert "x * w.masked_fill(~chosen_.t(), 0).sum(-1)[:, None]" in new


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("i = m.nonzero().squeeze(-1)\ny[i] = x[i] - x[i].mean(0)", "`x[i] - x[i].mean(0)` may mix"),
        ("i = m.nonzero().squeeze(-1)\ny[i] = mixing(x[i])", "`mixing(x[i])` may mix the rows"),
        ("i = m.nonzero().squeeze(-1)\ny[i] = x[i]\nk = i.numel()", "`i.numel()` may mix the rows"),
        ("i = m.nonzero().squeeze(-1)\nfor _ in range(2):\n    y[i] = 1.0", ""),
        ("i = m.nonzero().squeeze(-1)\ny[i] = x[:2]", "`x[:2]` may have a place for each"),
        ("i = m.nonzero().squeeze(-1)\ny[i] = x.cumsum(0)[i] + F.relu(x[i], True)", "`F.relu(x[i], True)`"),
        ("i = m[:4].nonzero().squeeze(-1)\ny[i] = x[i]", "`y` has not as many rows as the mask"),
        ("i, k = torch.where(sel == 1)\ny[i] += x[i] * w[i, k, None]", "a row of `y` may be named twice"),
        ("i, k = torch.where(sel == 1)\ny.index_add_(0, i, x[i])", "a row of `y` may be named twice"),
        ("i, k = torch.where(sel == 1)\ny.index_add_(0, i, x[i] * w[i, k, None].exp())",
         "a row of `y` may be named twice"),
        ("i, k = torch.where(sel == 1)\ny.index_add_(0, i, x[i] + w[i, k, None])",
         "a row of `y` may be named twice"),
        ("i, k = torch.where(sel == 1)\ny[k] = x[i]", "the positions are not used as those of rows"),
        ("i = m.nonzero().squeeze(-1)\nx = x[i]\ny[i] = x", "`x = x[i]` is not over the rows"),
        ("i = m.nonzero().squeeze()\ny[i] = x[i]", ""),
        ("i = m.nonzero().squeeze(-1)\ny[i[:1]] = x[i[:1]]", "the positions are not used as those"),
    ],
)  # fmt: skip
def test_what_may_not_be_the_same_is_left_alone(body: str, reason: str) -> None:
    said = _written(body)

    assert (said[: len(reason)] if reason else said) == reason


def test_of_the_largest_of_each_row_none_is_named_twice() -> None:
    head = "w, s = x.topk(2)\n"
    body = "i, k = torch.where(s == 1)\ny[i] += x[i] * w[i, k, None].exp()"

    assert "y + " in _written(head + body)
    assert _written(f"{head}s[0] = 1\n{body}").startswith("a row of `y` may be named twice")


@pytest.mark.parametrize(
    "product", ["experts[e](x[c])", "F.linear(x[c], w.t()[:, :4])", "x[c] @ w.t()[:, :4]"]
)
def test_experts_that_a_mask_chooses_cost_the_same(product: str) -> None:
    body = f"w = torch.ones(4, 4)\nfor e in range(2):\n    c = sel[:, 0] == e\n    y[c] = {product}"

    assert "all 2 experts run on all rows, and 1 of them for each: 2 times" in _written(
        body, by=masked
    )
    assert "y.copy_(torch.where(c[..., None]" in _written(body, ALL, masked)
    assert "y.copy_(" in _written(body.replace(product, "x[c] * 2"), by=masked)
