"""Loops over the experts that are hit, as loops over all."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

torch = pytest.importorskip("torch")

from capturelint.rewrite.allowed import NOTHING, Allowed  # noqa: E402 - needs torch
from capturelint.rewrite.patterns import hits  # noqa: E402
from tests.unit.rewrite.observing import written  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

HEAD = "def step(x, m, w):\n    y = torch.zeros_like(x)\n"
HIT = "hit = torch.greater(m.sum(dim=(-1, -2)), 0).nonzero()"
BODY = """
for e in hit:
    e = e[0]
    if e == 3:
        continue
    k, i = torch.where(m[e])
    z = F.linear(x[i], w[e])
    y.index_add_(0, i, z)
return y"""


def _written(body: str, allowed: Allowed) -> str:
    m = torch.zeros(3, 2, 4, dtype=torch.long)
    m[0, 0, 1] = m[2, 1, 3] = 1
    given = (torch.ones(4, 5), m, torch.ones(3, 5, 5))
    return written(cast("Pattern", hits), body, *given, head=HEAD, allowed=allowed)


@pytest.mark.parametrize("hit", [HIT, "hit = (m.sum((-2, -1)) > 0).nonzero()"])
def test_a_loop_over_what_is_hit_goes_over_all_if_allowed(hit: str) -> None:
    new = BODY.replace("in hit", "in range(m.shape[0])").replace("    e = e[0]\n", "").lstrip("\n")

    assert _written(hit + BODY, Allowed(all_experts=True)) == new
    assert _written(hit + BODY, NOTHING).startswith(
        "without a choice of rows, all 3 experts run on all rows, and 2 of them for each: 1.5 times"
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("return y", "return y, z", "what it goes over, or leaves behind, is read elsewhere"),
        ("return y", "return y, hit", "what it goes over, or leaves behind, is read elsewhere"),
        (
            "    y.index_add_(0, i, z)",
            "    y.index_add_(0, i, z)\n    x.mul_(2)",
            "`x.mul_(2)` may do more",
        ),
        (
            "    y.index_add_(0, i, z)",
            "    y = y.index_add(0, i, z)",
            "what it goes over, or leaves behind",
        ),
        ("    y.index_add_(0, i, z)", "    y[i] = z", "`y[i] = z` may do more than add rows"),
        (
            "torch.where(m[e])",
            "torch.where(m[e] > 0)",
            "its turns do not begin with the places of `m[e]`",
        ),
        ("    if e == 3:", "    if e in (3,):", "its turns do not begin with the places of `m[e]`"),
        ("m.sum(dim=(-1, -2))", "m.sum(-1)[:, 0]", ""),
        ("    e = e[0]\n", "    e = e[-1]\n", ""),
        (", 0).nonzero()", ", 1).nonzero()", ""),
        ("e = e[0]", "e = e[0]  # its number", "a comment inside of it would be lost"),
    ],
)
def test_a_loop_that_may_do_more_is_left_alone(old: str, new: str, reason: str) -> None:
    text = HIT + BODY
    assert old in text
    said = _written(text.replace(old, new), Allowed(all_experts=True))

    assert (said[: len(reason)] if reason else said) == reason


READ = """
for e in hit:
    k, i = torch.where(m[e].squeeze(0))
    z = F.linear(x[i], w[e[0]]) * len(f"at {e[0]}")
    y.index_add_(0, i, z)
return y"""


def _read(old: str, new: str) -> str:
    assert old in READ
    return _written(HIT + READ.replace(old, new), Allowed(all_experts=True))


def test_turns_that_read_the_number_of_what_is_hit_have_it() -> None:
    new = READ.replace("e[0]", "e").replace("in hit", "in range(m.shape[0])")

    assert _read("m[e]", "m[e]") == new.replace(".squeeze(0)", "").lstrip("\n")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("{e[0]}", "{e[0]!r}", ""),
        ("{e[0]}", "{e}", ""),
        ("{e[0]}", "{e[-1]}", ""),
        ("m[e].squeeze(0)", "m[e][0]", ""),
        ("m[e].squeeze(0)", "m[e].squeeze()", ""),
        ("w[e[0]]", "w[e].squeeze(0)", ""),
        ("    k, i", "    z = x\n    k, i", "its turns do not begin with the places of `m[e].squeeze(0)`"),
        ("    y.index_add_(0, i, z)", "    y.index_add_(0, i, z)\n    print(e[0])",
         "`print(e[0])` may do more than add rows"),
    ],
)  # fmt: skip
def test_turns_that_use_what_is_hit_otherwise_are_left_alone(
    old: str, new: str, reason: str
) -> None:
    said = _read(old, new)

    assert (said[: len(reason)] if reason else said) == reason
