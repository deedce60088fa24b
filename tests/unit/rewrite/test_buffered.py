"""Written numbers as buffers: what `__init__` and the method become, and what is left alone."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import TYPE_CHECKING, cast

import pytest

from capturelint.finding import Fix
from capturelint.rewrite.buffers import Buffer, why_no_buffer, with_buffers
from capturelint.rewrite.compose import applied
from capturelint.rewrite.form import Refusal
from tests.unit.rewrite.observing import IMPORTS, observed

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402 - needs torch

from capturelint.rewrite.patterns import buffered  # noqa: E402
from capturelint.rewrite.proof.held import CannotHoldError, borrower, family, value_of  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

INIT = "    def __init__(self):\n        super().__init__()\n"
CLASS = IMPORTS + "class Model(nn.Module):\n" + INIT


def _written(body: str) -> str:
    """Return what a method's line becomes, then what `__init__` gets; or why there is nothing."""
    text = f"{CLASS}\n    def forward(me, x):\n        return {body}\n"
    facts = observed(text, torch.ones(3, 9), name="Model.forward")
    pattern = cast("Pattern", buffered)
    found = pattern.sites(facts)
    if not found:
        return ""
    forms = pattern.match(found[0], facts, "torch")
    if isinstance(forms, Refusal):
        return str(forms)
    new = with_buffers(applied(text, [Fix("proven", forms[0].edits)]), forms[0].buffers)
    ast.parse(new)
    lines = new.removeprefix(CLASS).split("\n")
    return "\n".join(line.strip() for line in (lines[-2], *lines[:-4]))


@pytest.mark.parametrize(
    ("old", "new", "made"),
    [
        ("x[:, [4, 0, 7]]", "x[:, me.rows_]", '"rows_", torch.tensor([4, 0, 7], dtype=torch.int64)'),
        ("x[:2, :2] * torch.tensor([0.5, 2], device=x.device)", "x[:2, :2] * me.values_",
         '"values_", torch.tensor([0.5, 2], dtype=torch.float32)'),
        ("torch.tensor([[1, 2], [3, 4]], dtype=torch.int8).to(x.device)", "me.values_.clone()",
         '"values_", torch.tensor([[1, 2], [3, 4]], dtype=torch.int8)'),
    ],
)  # fmt: skip
def test_written_numbers_are_read_from_a_buffer(old: str, new: str, made: str) -> None:
    returned, *lines = _written(old).split("\n")

    assert returned == f"return {new}"
    assert " ".join(lines).replace("( ", "(").rstrip(",) ") == (
        f"self.register_buffer({made}, persistent=False"
    )


@pytest.mark.parametrize(
    "body",
    [
        "x[:, [True] * 9]",
        "x[[x.shape[0] - 1, 0]]",
        "x * torch.tensor([0.5, x.shape[0]][:1], device=x.device)",
        "x * torch.tensor([1.0] * 9, device=x.device)",
        "torch.tensor([0.5, 0.25], device=x.device, requires_grad=True)",
        "torch.tensor([0.5, 0.25])",
    ],
)
def test_what_is_not_written_out_is_no_place(body: str) -> None:
    assert _written(body) == ""


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        (f"class A:\n{INIT}    def f(self): ...\n", "A.f", ""),
        ("def f(x): ...\n", "f", "it is no plain method"),
        (f"class A:\n{INIT}", "A.__init__", "it is no plain method"),
        (f"class A:\n{INIT}    @staticmethod\n    def f(x): ...\n", "A.f", "it is no plain method"),
        (f"class A:\n    class B:\n        def f(self): ...\n{INIT}", "A.B.f", "it is no plain method"),
        ("class A:\n    def f(self): ...\n", "A.f", "its class has no `__init__`"),
        ("class A:\n    def __init__(self):\n        super().__init__()\n        return\n    def f(self): ...\n",
         "A.f", "the `__init__` of its class may end early"),
        ("class A:\n    def __init__(self): super().__init__()\n    def f(self): ...\n", "A.f",
         "the `__init__` of its class may end early"),
        ("class A:\n    def __init__(self):\n        self.k = 1\n    def f(self): ...\n", "A.f",
         "the `__init__` of its class does not call"),
        (f"class A:\n{INIT}    def f(self): ...\n    def g(cls):\n        return cls.__new__(cls)\n",
         "A.f", "its file makes or copies modules in another way"),
        (f"class A:\n{INIT}    def f(self): ...\n    def __setstate__(self, s): ...\n", "A.f",
         "its file makes or copies modules in another way"),
        (f"class C:\n  class A:\n{INIT}    def f(self): ...\n", "A.f", "it is no plain method"),
        (f"class A:\n{INIT}    def f(self): ...\nclass A:\n{INIT}    def f(self): ...\n", "A.f",
         "it is no plain method"),
    ],
)  # fmt: skip
def test_a_buffer_needs_an_init_that_runs_to_its_end(text: str, name: str, reason: str) -> None:
    said = why_no_buffer(ast.parse(text), name)

    assert (said[: len(reason)] if reason else said) == reason


def test_what_ends_an_init_stays_before_its_buffers() -> None:
    text = "class A:\n    def __init__(this):\n        super().__init__()\n        this.k = (\n            1\n        )  # last"
    new = with_buffers(text, [Buffer("A", "self", "t", "torch.tensor([1])")] * 2)

    assert new == f'{text}\n        this.register_buffer("t", torch.tensor([1]), persistent=False)'


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_buffers_are_made_in_files_of_other_line_ends(end: str) -> None:
    text = f"# \f\nclass A:\n{INIT}".replace("\n", end)
    new = with_buffers(text, [Buffer("A", "self", "t", "torch.tensor([1])")])
    line = 'self.register_buffer("t", torch.tensor([1]), persistent=False)'

    assert new == f"{text.removesuffix(end)}{end}        {line}{end}"


class Half(nn.Module):
    """Of another type than its buffer would be."""

    def __init__(self) -> None:
        super().__init__()
        self.proj = nn.Linear(1, 1).half()


class Own(nn.Module):
    """Keeps its buffers in its own way."""

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep none."""


def test_a_module_that_would_convert_a_buffer_or_hides_it_holds_none() -> None:
    held = Half()
    names = {"Half": Half, "Own": Own, "Linear": nn.Linear}
    numbers = Buffer("Half", "self", "t", "torch.tensor([1], dtype=torch.int64)")

    assert torch.equal(value_of(numbers, names), torch.tensor([1]))
    for cls, name, text in (
        ("Half", "t", "torch.tensor([0.5], dtype=torch.float32)"),
        ("Half", "proj", numbers.text),
        ("Own", "t", numbers.text),
        ("Linear", "weight", numbers.text),
        ("Missing", "t", numbers.text),
    ):
        with pytest.raises(CannotHoldError):
            value_of(Buffer(cls, "self", name, text), names)
    assert held.proj.weight.dtype is torch.float16


class Plain(nn.Module):
    """Would make a buffer."""

    def __init__(self) -> None:
        super().__init__()

    def forward(self, x: Tensor) -> Tensor:
        """Return what it is given."""
        return x


class _Calling(Plain):
    def __init__(self) -> None:
        super().__init__()
        self.k = 1


class _Below(_Calling):
    """Has no `__init__` of its own."""


def test_a_class_derived_from_it_has_to_call_its_init() -> None:
    names = {"Plain": Plain}
    buffer = Buffer("Plain", "self", "t", "torch.tensor([1])")
    value_of(buffer, names)

    class Skipping(Plain):
        def __init__(self) -> None:
            nn.Module.__init__(self)

    assert family(Plain) == {Plain, _Calling, _Below, Skipping}
    with pytest.raises(CannotHoldError, match=r"`Skipping.__init__` may not call that of `Plain`"):
        value_of(buffer, names)


def test_a_class_may_borrow_a_method() -> None:
    class Borrowing(nn.Module):
        forward = Plain.forward

    borrowed = [function for function in [Plain.forward] if isinstance(function, FunctionType)]

    assert borrower(borrowed, Plain) == "Borrowing"
    assert borrower(borrowed, Borrowing) == "Plain"
    assert borrower([], Plain) == ""
