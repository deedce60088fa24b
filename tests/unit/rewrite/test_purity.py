"""What an expression may change, told from the source alone."""

from __future__ import annotations

import pytest

from tests.unit.rewrite.functions import refusals, rewritten


@pytest.mark.parametrize(
    "expression",
    [
        "x",
        "x[0, 1:] + 1",
        'f"{x.mean().item():>8.3f} {x.shape}"',
        '"%s %d" % (x, len(x.shape))',
        '"mean {}".format(x.float().mean())',
        "[row.sum() for row in x]",
        "torch.isnan(x).any(), x.detach().cpu().numpy()",
        "x if x.dim() == 2 and not x.is_floating_point() else -x",
        "torch.linalg.norm(x) < 1.0",
    ],
)
def test_what_only_computes_may_be_left_out(expression: str) -> None:
    assert "is_current_stream_capturing" in rewritten(f"print(x, {expression})\nreturn x")


@pytest.mark.parametrize(
    ("expression", "part"),
    [
        ("x.zero_()", "x.zero_()"),
        ("x.abs().clamp_(0)", "x.abs().clamp_()"),
        ("torch.add(x, 1, out=x)", "torch.add()"),
        ("torch.randn(3)", "torch.randn()"),
        ("torch.nn.functional.dropout(x)", "torch.nn.functional.dropout()"),
        ("unknown(x)", "unknown()"),
        ("x.backward()", "x.backward()"),
        ("[step(x) for _ in range(2)]", "step()"),
        ("(lambda: x)()", "lambda: x()"),
        ('f"{x.add_(1)}"', "x.add_()"),
        ("next(iter([x]))", "next()"),
        ("x.register_hook(print)", "x.register_hook()"),
        ("[1].append(x)", "[1].append()"),
    ],
)
def test_what_may_change_something_is_named(expression: str, part: str) -> None:
    said = refusals(f"print(x, {expression})\nreturn x")

    assert said
    assert {one.partition(";")[0] for one in said} == {f"`{part}` may change something"}
