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
from capturelint.rewrite.proof.held import CannotHoldError, borrower, caller, family, value_of  # noqa: E402

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
        ("x * torch.tensor((1, 2, 4, 5, 3, 0, 1, 2, 9), device=x.device)", "x * me.values_",
         '"values_", torch.tensor((1, 2, 4, 5, 3, 0, 1, 2, 9), dtype=torch.int64)'),
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
        ("class A:\n    def __init__(self):\n        super().__init__(); self(1)\n    def f(self): ...\n",
         "A.f", "the `__init__` of its class does not call that of `nn.Module` on lines of its own"),
        ("class A:\n    def __init__(self):\n        k = 1; super().__init__()\n    def f(self): ...\n",
         "A.f", "the `__init__` of its class does not call that of `nn.Module` on lines of its own"),
        (f"class A:\n{INIT}    def f(self): ...\n    def g(me):\n        return [*me.named_buffers()]\n",
         "A.f", "its file goes through the buffers"),
        (f"class A:\n{INIT}    def f(self): ...\ndef g(m): return getattr(m, 'buffers')()\n",
         "A.f", "its file goes through the buffers"),
        (f"class A:\n{INIT}    def f(self): ...\ndef g(m): return m.register_buffer, m.buffers_\n", "A.f", ""),
        (f"class A:\n{INIT}    def f(self): ...\nclass B:\n    def g(self): return A.f(self)\n",
         "A.f", "its file names `A.f`"),
        (f"class A:\n{INIT}    def f(self): ...\nclass B:\n    def g(self, b, A_): return b.f(A_.f)\n", "A.f", ""),
    ],
)  # fmt: skip
def test_a_buffer_needs_an_init_that_runs_to_its_end(text: str, name: str, reason: str) -> None:
    said = why_no_buffer(ast.parse(text), name)

    assert (said[: len(reason)] if reason else said) == reason


def test_what_an_init_does_may_read_its_buffers() -> None:
    start = "class A:\n    def __init__(this):\n        super().__init__(\n        )  # first"
    rest = "\n        this.k = this(1)"
    new = with_buffers(start + rest, [Buffer("A", "self", "t", "torch.tensor([1])")] * 2)

    assert new == (
        f'{start}\n        this.register_buffer("t", torch.tensor([1]), persistent=False){rest}'
    )


def test_a_buffer_is_indented_as_its_class_is() -> None:
    text = "class A:\n\tdef __init__(self):\n\t\tsuper().__init__()\n"
    made = f"torch.tensor([{', '.join('0.5' for _ in range(30))}])"
    new = with_buffers(text, [Buffer("A", "self", "t", made)])
    ast.parse(new)

    assert new.startswith(f"{text}\t\tself.register_buffer(\n")
    assert new.endswith(f"{made},\n\t\t    persistent=False,\n\t\t)\n")


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


class _Dry(nn.Module):
    """Runs itself while it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.k = self.size()

    def size(self) -> int:
        """Return what a class derived from it may compute with a buffer."""
        return 1


class _Quiet(nn.Module):
    """Runs nothing of its own while it is made."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList()
        self.layers.append(nn.Linear(1, 1))
        self.register_buffer("held", torch.zeros(1))


class _Told(_Quiet):
    def __init__(self) -> None:
        super().__init__()
        self.told = repr(self)


class _OfDry(_Dry):
    def __init__(self) -> None:
        super().__init__()


class _OfQuiet(_Quiet):
    def __init__(self) -> None:
        super().__init__()


class _OfTold(_Told):
    def __init__(self) -> None:
        super().__init__()


def test_no_base_may_run_what_reads_a_buffer_before_there_is_one() -> None:
    names = {"OfDry": _OfDry, "OfQuiet": _OfQuiet, "OfTold": _OfTold}
    value_of(Buffer("OfQuiet", "self", "t", "torch.tensor([1])"), names)

    for one, base in (("OfDry", "_Dry"), ("OfTold", "_Told")):
        with pytest.raises(
            CannotHoldError, match=rf"`{base}.__init__` may call what reads a buffer"
        ):
            value_of(Buffer(one, "self", "t", "torch.tensor([1])"), names)


def _lending(module: nn.Module, x: Tensor) -> object:
    return [Lent.pick(cast("Lent", module), one) for one in x]


class Lent(nn.Module):
    """Has a method that a function calls on others."""

    def pick(self, x: Tensor) -> Tensor:
        """Return what it is given."""
        return x

    def kept(self, x: Tensor) -> Tensor:
        """Return what it is given."""
        return x


def test_a_function_may_call_a_method_of_the_class_on_others() -> None:
    lent, kept = (
        [cast("FunctionType", one)] for one in (Lent.__dict__["pick"], Lent.__dict__["kept"])
    )

    assert caller(lent, Lent) == "_lending"
    assert caller(kept, Lent) == ""
    assert caller(lent, Half) == ""


def test_a_class_may_borrow_a_method() -> None:
    class Borrowing(nn.Module):
        forward = Plain.forward

    borrowed = [function for function in [Plain.forward] if isinstance(function, FunctionType)]

    assert borrower(borrowed, Plain) == "Borrowing"
    assert borrower(borrowed, Borrowing) == "Plain"
    assert borrower([], Plain) == ""
