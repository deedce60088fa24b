"""Whatever the program, a check ends, says the same twice, and does not mix up functions."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capturelint.config import Scope
from capturelint.lint.engine import check
from capturelint.lint.registry import builtin_rules
from capturelint.lint.result import CheckResult
from tests.unit.lint.probe import IMPORTS, config_for, written

_RULES = builtin_rules()
_NAMES = st.sampled_from("x y n é rows self.a self.b self.rows torch nn helper Model None".split())
_TARGETS = st.sampled_from(
    [
        "x",
        "y",
        "n",
        "é",
        "self.a",
        "self.b",
        "rows[0]",
        "x[y]",
        "x, y",
        "(x, (y, *n))",
        "self.rows[n]",
    ]
)
_LITERALS = st.sampled_from(
    [
        "(0)",
        "(1.5)",
        "True",
        "'a'",
        "''",
        "...",
        "[]",
        "{}",
        "()",
        "set()",
        "(-1)",
        "'cpu'",
        "'cuda'",
    ]
)
_ONE = [
    "{}.item()", "{}.cpu()", "{}.sum()", "{}.shape[0]", "{}.to('cuda')", "{}.append(x)", "{}.a",
    "{}[0]", "{}[:, None]", "-({})", "not ({})", "len({})", "float({})", "(f'{{x!r:>{{n}}}} é', {})", "list({})",
    "torch.relu({})", "helper({})", "helper(*{})", "helper(**{})", "self.part({})", "self.rows[0]({})",
    "torch.zeros({})", "[i for i in ({})]", "{{i: i for i in ({}) if i}}", "sum(i for i in ({}))",
    "(lambda i: i + ({}))", "isinstance({}, Tensor)", "super().part({})", "(z := ({}))", "print({})",
    "torch.compile(alone, {}, mode='reduce-overhead')",
    "torch.cuda.make_graphed_callables((alone, ), {})",
    "getattr({}, 'a')", "setattr(self, 'a', {})", "self.register_buffer('b', {})", "Model({})",
]  # fmt: skip
_TWO = [
    "({}) + ({})", "({}) and ({})", "({}) or ({})", "({}) == ({})", "({}) is ({})", "({}) in ({})",
    "({}) % ({})", "({})[({})]", "({})[({}):]", "({}, {})", "[{}, {}]", "{{'a': {}, 'b': {}}}",
    "0 < ({}) < ({})", "({})(({}))", "torch.where({}, {}, 0)", "max({}, {})", "zip({}, {})",
]  # fmt: skip


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(lambda form, a: form.format(a), st.sampled_from(_ONE), inner),
        st.builds(lambda form, a, b: form.format(a, b), st.sampled_from(_TWO), inner, inner),
        st.builds("({}) if ({}) else ({})".format, inner, inner, inner),
    )


_EXPRESSIONS = st.recursive(st.one_of(_NAMES, _LITERALS), _grown, max_leaves=5)
_SIMPLE = st.one_of(
    st.builds("{} = {}".format, _TARGETS, _EXPRESSIONS),
    st.builds("x += {}".format, _EXPRESSIONS),
    st.builds("y: Tensor = {}".format, _EXPRESSIONS),
    st.builds("return {}".format, _EXPRESSIONS),
    st.builds("assert {}, 'é'".format, _EXPRESSIONS),
    st.builds("{}".format, _EXPRESSIONS),
    st.sampled_from(
        ["return", "pass", "raise ValueError(x)", "del y", "import torch as n", "global G"]
    ),
)
_HEADS = st.one_of(
    st.builds("if {}:".format, _EXPRESSIONS),
    st.builds("while {}:".format, _EXPRESSIONS),
    st.builds("for {} in {}:".format, _TARGETS, _EXPRESSIONS),
    st.builds("with {} as y:".format, _EXPRESSIONS),
    st.sampled_from(
        [
            "try:\n    pass\nexcept ValueError as error:",
            "def inner(x, y=x):",
            "with torch.cuda.graph(x):",
            "if torch.cuda.is_current_stream_capturing():",
            "if self.a is None:",
            "class Local:",
        ]
    ),
)


def _with_blocks(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    bodies = st.lists(inner, min_size=1, max_size=3).map("\n".join)
    return st.builds(lambda head, body: f"{head}\n{textwrap.indent(body, '    ')}", _HEADS, bodies)


_BODIES = st.lists(st.recursive(_SIMPLE, _with_blocks, max_leaves=3), min_size=1, max_size=5).map(
    "\n".join
)
_ANNOTATIONS = st.sampled_from(["", ": Tensor", ": Tensor | None = None", ": int = 0", ": 'Model'"])


@st.composite
def _programs(draw: st.DrawFn) -> str:
    """Return a module with a model, whose methods and helper may do anything."""
    bodies = {name: draw(_BODIES) for name in ("__init__", "forward", "part")}
    methods = "".join(
        f"\n    def {name}(self, x{draw(_ANNOTATIONS)}, *rest, **more):\n"
        + textwrap.indent(body, " " * 8)
        for name, body in bodies.items()
    )
    base = draw(st.sampled_from(["nn.Module", "Base", "nn.ModuleList", "Model"]))
    helper = textwrap.indent(draw(_BODIES), "    ")
    return (
        f"{IMPORTS}\nG = 1\nclass Base(nn.Module):\n    a: Tensor\n"
        f"class Model({base}):{methods}\ndef helper(x, y=None):\n    self = x\n{helper}\n"
        "def alone(x):\n    return x.item()\n"
    )


_QUICKLY = settings(
    max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
_UNRELATED = """

def unrelated(tensor: Tensor, number=1):
    for row in tensor:
        number += row.item() if tensor.any() else helper
    return number
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@_QUICKLY
@given(text=_programs(), scope=st.sampled_from([Scope.CAPTURED, Scope.ALL]))
def test_a_check_ends_and_says_the_same_twice(folder: Path, text: str, scope: Scope) -> None:
    first = _checked(folder, text, scope)
    second = _checked(folder, text, scope)

    assert first == second
    assert first.errors == ()
    assert [f for f in first.findings if f.code == "CL000"] == []


@_QUICKLY
@given(text=_programs(), scope=st.sampled_from([Scope.CAPTURED, Scope.ALL]))
def test_an_unrelated_function_changes_no_finding_elsewhere(
    folder: Path, text: str, scope: Scope
) -> None:
    alone = _checked(folder, text, scope)
    beside = _checked(folder, text + _UNRELATED, scope)

    others = tuple(f for f in beside.findings if not f.function.endswith(".unrelated"))
    assert others == alone.findings
    assert beside.captured_functions == alone.captured_functions


def test_the_unrelated_function_has_findings_of_its_own(folder: Path) -> None:
    result = _checked(folder, IMPORTS + _UNRELATED, Scope.ALL)

    assert sorted(f.code for f in result.findings) == ["CL101", "CL401"]


def _checked(folder: Path, text: str, scope: Scope) -> CheckResult:
    written(folder, {"m.py": text})
    return check([folder], config_for(folder, scope=scope), _RULES)
