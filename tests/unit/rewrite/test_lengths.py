"""Loops that fill each row by its length, as one fill, and what is left alone with a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

torch = pytest.importorskip("torch")

from capturelint.rewrite.patterns import lengths  # noqa: E402 - needs torch
from tests.unit.rewrite.observing import written  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

HEAD = """\
def step(x, n, k):
    m = torch.zeros(x.shape[0], x.shape[1], device=x.device)
"""
ENDS = "ends_ = torch.where(n < 0, n + {0}.shape[1], n)\n"
FILL = "{0}.masked_fill_(torch.arange({0}.shape[1], device={0}.device) "


def _given() -> tuple[object, ...]:
    return torch.ones(3, 5, 2), torch.tensor([2, 7, -3]), torch.rand(3, 4) > 0.5


def _written(body: str) -> str:
    return written(cast("Pattern", lengths), body, *_given(), head=HEAD)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("for i in range(m.shape[0]):\n    m[i, : n[i]] = 1", ENDS + FILL + "< ends_[:, None], 1)"),
        ("for i in range(len(n)):\n    m[i][n[i].item() :] = -0.5",
         ENDS + FILL + ">= ends_[:, None], -0.5)"),
        ("b, t = m.shape\nfor i in range(b):\n    m[i, : int(n[i])] = 1",
         "b, t = m.shape\n" + ENDS + FILL + "< ends_[:, None], 1)"),
        ("for i, j in enumerate(n.tolist()):\n    m[i, :j] = 1", ENDS + FILL + "< ends_[:, None], 1)"),
        ("c = k.sum(-1)\nfor i, j in enumerate(c):\n    m[i, j:] = 2",
         "c = k.sum(-1)\n" + FILL + ">= c[:, None], 2)"),
        ("y = x.clone()\nfor i in range(y.size(0)):\n    y[i, n[i] :, :] = 0.0",
         "y = x.clone()\n" + ENDS.format("y") + FILL.format("y").replace("_(", "_((", 1)
         + ">= ends_[:, None])[..., None], 0.0)"),
    ],
)  # fmt: skip
def test_a_loop_over_rows_is_one_fill_that_fills_the_same(old: str, new: str) -> None:
    name = "y" if old.startswith("y") else "m"

    assert _written(f"{old}\nreturn {name}") == new.format("m") + f"\nreturn {name}"
    results = []
    for body in (old, new.format("m")):
        names: dict[str, object] = {"torch": torch}
        lines = "".join(f"    {line}\n" for line in f"{body}\nreturn {name}".split("\n"))
        exec(HEAD + lines, names)
        torch.manual_seed(0)
        results.append(names["step"](*_given()))  # type: ignore[operator]  # the function just made
    assert torch.equal(*results)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("for i in range(2):\n    m[i, : n[i]] = 1", "`range(2)` may not go over all rows"),
        ("t, b = torch.zeros(5, 3).shape\nfor i in range(b):\n    m[i, : n[i]] = 1", "`range(b)` may not"),
        ("b = k.shape[0]\nfor i in range(b):\n    m[i, : n[i]] = 1", "`range(b)` may not go over all"),
        ("for i in range(m.shape[1] - 2):\n    m[i, : n[i]] = 1", "`range(m.shape[1] - 2)` may not"),
        ("for i in range(m.shape[0]):\n    m[i, : n[i]] = 1\nm = m[i]", "`i` is read elsewhere too"),
        ("for i in range(len(n)):\n    m[i, : n[i]] = 1\nelse:\n    m = m + 1", "it has an `else`"),
        ("for i in range(2):\n    m[i, : n[:2][i]] = 1", "`n[:2]` is not one length for each row"),
        ("k = k.long()\nfor i in range(len(n)):\n    k[i, : n[i]] = 0.5", "`0.5` is converted where"),
        ("for i in range(len(n)):\n    m[i, : n[i]] = x[0, 0, 0]", ""),
        ("for i in range(len(n)):\n    m[0, : n[i]] = 1", ""),
        ("for i in range(len(n)):\n    m[i, : n[0]] = 1", ""),
        ("for i in range(len(n)):\n    m[i, 1 : n[i]] = 1", ""),
        ("for i in range(len(n)):\n    m[i, : n[i] : 2] = 1", ""),
        ("for i in range(len(n)):\n    m[i, : n[i]] += 1", ""),
        ("for i in range(len(n)):\n    m[i, : n[i]] = 1\n    print(i)", ""),
    ],
)  # fmt: skip
def test_what_may_not_be_the_same_is_left_alone(body: str, reason: str) -> None:
    said = _written(f"{body}\nreturn m")

    assert (said[: len(reason)] if reason else said) == reason


def test_lengths_of_few_bits_do_not_wrap_around() -> None:
    x, n = torch.ones(3, 200), torch.tensor([2, -3, 100], dtype=torch.int8)
    body = "for i in range(m.shape[0]):\n    m[i, : n[i]] = 1\nreturn m"
    new = written(cast("Pattern", lengths), body, x, n, n, head=HEAD)

    names: dict[str, object] = {"torch": torch}
    exec(HEAD + "".join(f"    {line}\n" for line in new.split("\n")), names)
    filled = names["step"](x, n, n)  # type: ignore[operator]  # the function just made
    assert filled.sum(-1).tolist() == [2, 197, 100]
