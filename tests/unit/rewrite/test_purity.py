"""What an expression may change, told from the source alone."""

from __future__ import annotations

import pytest

from tests.unit.rewrite.functions import fixed, found, refusals, rewritten


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
        ("torch.nn.functional.relu(x, True)", "torch.nn.functional.relu()"),
        ("torch.nn.functional.relu(x, inplace=True)", "torch.nn.functional.relu()"),
        ("unknown", "unknown"),
        ("list(unknown)", "unknown"),
        ("*unknown", "unknown"),
        ("[unknown for unknown in unknown]", "unknown"),
        ("unknown[1]", "unknown"),
        ("-unknown", "unknown"),
        ("x + unknown", "unknown"),
        ("unknown == 1", "unknown"),
        ("1 in unknown", "unknown"),
        ("not unknown", "unknown"),
        ("x[unknown]", "unknown"),
        ("len(unknown)", "unknown"),
        ("unknown.word", "unknown.word"),
        ('f"{unknown}"', "unknown"),
        ('"%s" % unknown', "unknown"),
        ('"{}".format(unknown)', "unknown"),
        ("isinstance(x, unknown)", "isinstance()"),
    ],
)
def test_what_may_change_something_is_named(expression: str, part: str) -> None:
    said = refusals(f"print(x, {expression})\nreturn x")

    assert said
    assert {one.partition(";")[0] for one in said} == {f"`{part}` may change something"}


@pytest.mark.parametrize(
    "line",
    [
        "it = iter([x])",
        "it = zip(x, x)",
        "it = (row for row in x)",
        "it = [x]",
        "it = x.tolist()",
        "it = 1\nwith open(__file__) as it: pass",
        "def inner():\n    it = 1",
    ],
)
def test_what_others_may_change_or_use_up_is_not_read_again(line: str) -> None:
    said = refusals(f"{line}\nprint(x, it)\nreturn x")

    assert said[-1].startswith("`it` may change something")


def test_names_that_hold_numbers_and_texts_may_be_left_out() -> None:
    body = 'n = 1\nn += x.shape[0]\ns = f"{n}"\nfor i, _ in enumerate(x):\n    print(x, n, s, i)\nreturn x'

    assert "is_current_stream_capturing" in rewritten(body)


_MODULE = """\
import torch
from torch import Tensor, nn
from base import Base


class Model({base}):
    def __init__(self) -> None:
        super().__init__()
        self.k = 1
        self.register_buffer("n", torch.zeros(1))
{more}
    def forward(self, x: Tensor) -> Tensor:
        print({read}, x)
        return x
"""


@pytest.mark.parametrize("read", ["self.k", "self.n", "self.training"])
def test_plain_attributes_of_a_module_may_be_left_out(read: str) -> None:
    text = fixed(_MODULE.format(base="nn.Module", more="", read=read))

    assert "is_current_stream_capturing" in text


@pytest.mark.parametrize(
    ("base", "more", "read"),
    [
        ("nn.Module", "    @property\n    def tick(self): return self.n.add_(1)\n", "self.tick"),
        ("nn.Module", "    def __getattr__(self, name): return 1\n", "self.k"),
        ("nn.Module", "    k = Descriptor()\n", "self.k"),
        ("nn.Module", "", "self.other"),
        ("Base", "", "self.k"),
    ],
)
def test_an_attribute_that_may_run_code_is_read(base: str, more: str, read: str) -> None:
    text = _MODULE.format(base=base, more=more, read=read)

    assert fixed(text) == text
    assert [one.refusal.partition(";")[0] for one in found(text)] == [
        f"`{read}` may change something"
    ]


def test_only_what_is_surely_a_logger_is_passed_over() -> None:
    head = "from torch import Tensor\nimport torch\nfrom lib import Log, getLogger\n"
    body = "\n\ndef step(x: Tensor{more}) -> Tensor:\n    logger.info('%s', x)\n    return x\n"
    sure = f"{head}logger = getLogger('a')\n{body.format(more='')}"

    assert fixed(sure) != sure
    for made, more in (("Log()", ""), ("getLogger('a')", ", logger=None")):
        text = f"{head}logger = {made}\n{body.format(more=more)}"
        assert fixed(text) == text
