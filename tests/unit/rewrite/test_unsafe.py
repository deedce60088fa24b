"""Rewrites after which code no longer raises where it did: only where they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

torch = pytest.importorskip("torch")

from capturelint.rewrite.allowed import NOTHING, Allowed  # noqa: E402 - needs torch
from capturelint.rewrite.patterns import asserted, decomposed, packed, reduced, repeated  # noqa: E402
from tests.unit.rewrite.observing import observed, written  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

HEAD = "def step(x, m, n, rows):\n"
UNSAFE = Allowed(unsafe_fixes=True)


def _written(pattern: object, body: str, allowed: Allowed = UNSAFE) -> str:
    x, m = torch.ones(4, 3), torch.tensor([True, False, True, False])
    given = (x, m, torch.tensor([1, 3, 0, 0]), torch.zeros(2, 3))
    new = written(cast("Pattern", pattern), f"{body}\nreturn x", *given, head=HEAD, allowed=allowed)
    return new.removesuffix("\nreturn x")


@pytest.mark.parametrize(
    ("pattern", "old", "new"),
    [
        (asserted, "assert x.sum() > 0", 'torch._assert_async(x.sum() > 0, "x.sum() > 0")'),
        (asserted, "if x.isnan().any():\n    raise ValueError('no')  # why",
         "# why\ntorch._assert_async(torch.logical_not(x.isnan().any()), 'no')"),
        (asserted, 'if x.max() > 9:\n    raise ValueError(f"{x}")',
         'torch._assert_async(torch.logical_not(x.max() > 9), "x.max() > 9")'),
        (asserted, "torch._check_tensor_all(m | ~m)", 'torch._assert_async((m | ~m).all(), "m | ~m")'),
        (asserted, "import torch as t\nt._check_tensor_all_with(ValueError, x > 0, lambda: 'no')",
         'import torch as t\ntorch._assert_async((x > 0).all(), "x > 0")'),
        (packed, "x[m] = rows + 1", "x.masked_scatter_(m[..., None].expand_as(x), rows + 1)"),
        (reduced, "y = x[m].max()", 'y = x.masked_fill(~m[..., None], float("-inf")).max()'),
        (reduced, "y = n[m].min()", "y = n.masked_fill(~m, torch.iinfo(torch.int64).max).min()"),
        (repeated, "y = x + x.repeat_interleave(n, dim=0)",
         "y = x + x.repeat_interleave(n, dim=0, output_size=x.shape[0])"),
        (repeated, "y = torch.repeat_interleave(x, n, 0)\nz = y * x",
         "y = torch.repeat_interleave(x, n, 0, output_size=x.shape[0])\nz = y * x"),
        (decomposed, "y = torch.linalg.cholesky(x.T @ x + 9 * torch.eye(3), upper=True)",
         "y = torch.linalg.cholesky_ex(x.T @ x + 9 * torch.eye(3), upper=True).L"),
        (decomposed, "y = (x.T @ x + torch.eye(3)).inverse()",
         "y = torch.linalg.inv_ex(x.T @ x + torch.eye(3)).inverse"),
    ],
)  # fmt: skip
def test_what_may_raise_is_written_for_the_device_if_allowed(
    pattern: object, old: str, new: str
) -> None:
    assert _written(pattern, old) == new
    assert "`--unsafe-fixes`" in _written(pattern, old, NOTHING)


@pytest.mark.parametrize(
    ("pattern", "body", "reason"),
    [
        (asserted, "assert x.shape[0] == 4", ""),
        (asserted, "if x.sum() < 0:\n    raise ValueError('no')\nelse:\n    x = x + 1", ""),
        (asserted, "if x.sum() < 0:\n    x = x + 1\nelif x.max() < 0:\n    raise ValueError", "it is an `elif`"),
        (asserted, "torch._check(x.shape[0] == 4)", ""),
        (asserted, "torch._check_tensor_all(*[m | ~m])", ""),
        (asserted, "try:\n    assert x.sum() > 0\nexcept AssertionError:\n    x = x + 1", "it stands in a `try`"),
        (packed, "x[m] = rows[:1]", "what is stored may be one row for all places"),
        (packed, "x[m] = x[:2] * 1", "it reads what it writes to"),
        (packed, "x[m] = rows[0]", "what is stored may be one row for all places"),
        (packed, "x[m] = x[m] * 2", ""),
        (reduced, "y = x[m].argmax()", "of an empty selection it raises"),
        (reduced, "y = x[m].max(0)", "a reduction of some dimensions keeps"),
        (repeated, "y = x.repeat_interleave(n, dim=0).sum()", "`x.repeat_interleave(n, dim=0)` has as many"),
        (repeated, "y = rows[0] + x.repeat_interleave(n, dim=0)", "`x.repeat_interleave(n, dim=0)` has as"),
        (repeated, "z = x + 1\nz = z * 2\ny = z + x.repeat_interleave(n, dim=0)",
         "`x.repeat_interleave(n, dim=0)` has as many"),
        (repeated, "y = x.repeat_interleave(2, dim=0)", ""),
        (decomposed, "y = torch.linalg.svd(x).S", "this routine has no form that leaves its status alone"),
        (decomposed, "y = torch.linalg.inv(torch.eye(3), out=torch.eye(3))", "its arguments cannot"),
        (decomposed, "try:\n    y = torch.linalg.inv(x[:3].fill_(1).triu())\nexcept RuntimeError:\n    y = x",
         "it stands in a `try`"),
        (decomposed, "y = torch.linalg.det(x.T @ x)", ""),
    ],
)  # fmt: skip
def test_what_is_not_the_same_even_then_is_left_alone(
    pattern: object, body: str, reason: str
) -> None:
    said = _written(pattern, body)

    assert (said[: len(reason)] if reason else said) == reason


def test_a_routine_without_another_form_is_known_where_it_is_to_blame() -> None:
    text = f"import torch\n{HEAD}    y = torch.linalg.svd(x)\n    return y.S.item()\n"
    x = torch.ones(1, 1)
    found = [
        bool(decomposed.sites(observed(text, x, None, None, None, blamed=frozenset({line}))))
        for line in (text.count("\n") - 1, text.count("\n"))
    ]

    assert found == [True, False]


def test_a_check_that_never_ran_is_known_by_its_text() -> None:
    old = "if x.shape[0] > 9:\n    torch._check_tensor_all(m)"

    assert _written(asserted, old).endswith('    torch._assert_async(m.all(), "m")')
    assert "`--unsafe-fixes`" in _written(asserted, old, NOTHING)


def test_of_two_checks_the_one_to_blame_is_written() -> None:
    lines = [
        "    torch._check_tensor_all(m | ~m)",
        "    torch._check_tensor_all(x == x)",
        "    return x",
    ]
    facts = observed(
        "\n".join(["import torch", HEAD.rstrip(), *lines]),
        *(torch.ones(4, 3), torch.tensor([True, False]), None, None),
        blamed=frozenset({2 + HEAD.count("\n") + 1}),
    )

    assert [facts.text(one) for one in asserted.sites(facts)] == [lines[1].strip()]
