"""Grouped matrix products in float32, as all products of which each row picks one."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

torch = pytest.importorskip("torch")

from capturelint.rewrite.allowed import NOTHING, Allowed  # noqa: E402 - needs torch
from capturelint.rewrite.patterns import grouped_product  # noqa: E402
from tests.unit.rewrite.observing import written  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

pytestmark = pytest.mark.skipif(
    not hasattr(torch.nn.functional, "grouped_mm"), reason="this torch has no grouped product"
)

HEAD = "def step(x, w, ends):\n"
EXPERTS = Allowed(all_experts=True)
ROWS = """\
row_ = torch.arange(x.shape[0], device=ends.device)
group_ = (row_[:, None] >= ends[:-1]).sum(-1)
own_ = (group_ == torch.arange(ends.shape[0], device=ends.device)[:, None])[..., None]
"""


def _written(body: str, allowed: Allowed = EXPERTS, dtype: object = torch.float32) -> str:
    ends = torch.tensor([2, 2, 6], dtype=torch.int32)
    given = torch.randn(6, 8, dtype=dtype), torch.randn(3, 8, 8, dtype=dtype), ends
    return written(cast("Pattern", grouped_product), body, *given, head=HEAD, allowed=allowed)


@pytest.mark.parametrize("name", ["F.grouped_mm", "torch._grouped_mm"])
def test_each_row_picks_the_product_of_its_group(name: str) -> None:
    new = f"{ROWS}return torch.matmul(torch.where(own_, x.to(w.dtype), 0), w)[group_, row_]"

    assert _written(f"return {name}(x.to(w.dtype), w, offs=ends)") == new


def test_it_is_written_only_where_all_experts_may_run_on_all_rows() -> None:
    assert _written("return F.grouped_mm(x, w, offs=ends)", NOTHING).startswith(
        "without a choice of rows, all 3 experts run on all rows, and 1 of them for each: 3 times"
    )


@pytest.mark.parametrize("ends", [[0, 0, 5, 5], [5, 5, 5, 5], [1, 2, 3, 5], [0, 0, 0, 5]])
@pytest.mark.parametrize("odd", [0.5, float("inf"), float("nan")])
def test_rows_and_slopes_are_those_of_the_groups(ends: list[int], odd: float) -> None:
    body = _written("return F.grouped_mm(x, w, offs=ends)")
    names = {"torch": torch}
    exec(HEAD + "".join(f"    {line}\n" for line in body.split("\n")), names)
    x, w = torch.randn(5, 8), torch.randn(4, 8, 8)
    x[1, 2] = odd
    offsets = torch.tensor(ends, dtype=torch.int32)
    given = [one.requires_grad_() for one in (x, w)]
    came = [
        (result, *torch.autograd.grad(result[[0, 2, 3, 4]].sin().sum(), given))
        for result in (
            names["step"](x, w, offsets),
            torch.nn.functional.grouped_mm(x, w, offs=offsets),
        )
    ]

    torch.testing.assert_close(*came, equal_nan=True)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return F.grouped_mm(x[:], w, offs=ends)", "its rows or its offsets have no name"),
        ("return F.grouped_mm(x, w, offs=ends + 0)", "its rows or its offsets have no name"),
        ("return F.grouped_mm(x, w, offs=ends) + 1", "it is a part of something else"),
        ("return F.grouped_mm(x.mul_(2), w, offs=ends)", "`x.mul_()` may change something"),
        ("return F.grouped_mm(x, w, offs=ends, out_dtype=x.dtype)",
         "it has arguments besides its offsets"),
        ("return F.grouped_mm(x.t(), x, offs=ends)",
         "it is no product of rows with a matrix for each group"),
        ("return F.grouped_mm(x[:2].expand(3, 2, 8).contiguous(), w)", ""),
    ],
)  # fmt: skip
def test_other_products_are_left_alone(body: str, reason: str) -> None:
    assert _written(body).partition(";")[0] == reason


def test_a_product_in_bfloat16_waits_for_nothing() -> None:
    assert _written("return F.grouped_mm(x, w, offs=ends)", dtype=torch.bfloat16) == ""
