"""Facts of one file."""

from __future__ import annotations

import ast
import textwrap

import pytest

from capturelint.lint.index import facts_of
from capturelint.names import ClassFacts, FileFacts, FunctionFacts


def _facts(text: str, *, module: str = "pkg.m", is_package: bool = False) -> FileFacts:
    text = textwrap.dedent(text)
    return facts_of(ast.parse(text), text, path="pkg/m.py", module=module, is_package=is_package)


def test_a_function_is_known_by_its_place() -> None:
    facts = _facts(
        """\
        import torch

        @torch.no_grad()
        @torch.compile(mode="default")
        def step(x):
            return x
        """
    )

    assert facts.functions == (
        FunctionFacts(
            qualname="step",
            name="step",
            owner=-1,
            parent=-1,
            first_line=3,
            line=5,
            end_line=6,
            column=0,
            decorators=("torch.no_grad", "torch.compile"),
        ),
    )
    assert facts.top_functions == {"step": 0}


@pytest.mark.parametrize("mode", ["reduce-overhead", "max-autotune"])
def test_a_decorator_keeps_its_graph_mode(mode: str) -> None:
    facts = _facts(f"@torch.compile(dynamic=False, mode='{mode}')\ndef step(x): pass\n")

    assert facts.functions[0].decorators == (f"torch.compile:{mode}",)


def test_nested_functions_and_methods_know_what_is_around_them() -> None:
    facts = _facts(
        """\
        class Model:
            def forward(self):
                def inner():
                    def deepest(): pass
                class Local:
                    def method(self): pass

        if True:
            def late(): pass
        """
    )

    places = {f.qualname: (f.owner, f.parent, f.column) for f in facts.functions}
    assert places["Model.forward"] == (0, -1, 4)
    assert places["Model.forward.inner"] == (-1, 0, 8)
    assert places["Model.forward.inner.deepest"] == (-1, 1, 12)
    assert places["late"] == (-1, -1, 4)
    assert facts.top_functions == {"late": 4}
    assert facts.top_classes == {"Model": 0}
    assert facts.classes[0].methods == {"forward": 0}


def test_a_class_keeps_its_words() -> None:
    facts = _facts(
        """\
        @dataclass(frozen=True)
        class Batch(Base, nn.Module, Generic[T], metaclass=Meta):
            tokens: torch.Tensor
            size: int = 3
            heads = 4

            @property
            def width(self): pass
            @width.setter
            def width(self, value): pass
            @overload
            def get(self, a): pass
            def get(self, a, b): pass
        """
    )

    assert facts.classes == (
        ClassFacts(
            qualname="Batch",
            name="Batch",
            line=2,
            end_line=13,
            bases=("Base", "nn.Module", "Generic"),
            decorators=("dataclass",),
            methods={"width": 0, "get": 3},
            fields={"tokens": "torch.Tensor", "size": "int"},
            assigns={"heads": "4"},
        ),
    )


def test_imports_are_absolute() -> None:
    facts = _facts(
        """\
        import os.path
        import numpy as np
        from torch import nn as net
        from . import sibling
        from .near import a
        from ..far import b as c
        from .every import *
        if True:
            from late import d
        """,
        module="top.pkg.m",
    )

    assert facts.imports == {
        "os": ("os", None),
        "np": ("numpy", None),
        "net": ("torch", "nn"),
        "sibling": ("top.pkg", "sibling"),
        "a": ("top.pkg.near", "a"),
        "c": ("top.far", "b"),
        "d": ("late", "d"),
    }
    assert facts.stars == ("top.pkg.every",)


def test_a_dot_in_a_package_means_the_package_itself() -> None:
    facts = _facts("from . import a\nfrom .b import c\n", module="pkg", is_package=True)

    assert facts.imports == {"a": ("pkg", "a"), "c": ("pkg.b", "c")}


def test_more_dots_than_there_are_packages_lead_nowhere() -> None:
    facts = _facts("from ....far import a\n", module="pkg.m")

    assert facts.imports == {"a": ("far", "a")}


def test_module_names_bound_once_keep_their_source() -> None:
    facts = _facts(
        """\
        WIDTH = 8
        TABLE: dict[str, int] = {"é": 1}
        often = 1
        often = 2
        left, right = 1, 2
        LONG = [
            1,
            2,
        ]

        def change():
            global WIDTH
            WIDTH = 9
        """
    )

    assert facts.assigns == {"WIDTH": "", "TABLE": "{'é': 1}", "often": "", "LONG": "[1, 2]"}


@pytest.mark.parametrize(
    ("statement", "stores"),
    [
        ("self.a = 1", ("a",)),
        ("self.a, (self.b, c) = 1, 2", ("a", "b")),
        ("self.a: int = 1", ("a",)),
        ("self.a += 1", ("a",)),
        ("self.a[0] = 1", ("a",)),
        ("self.a[0][1] = 1", ("a",)),
        ("self.a.append(1)", ("a",)),
        ("self.a.add_(1)", ("a",)),
        ("self.register_buffer('a', x)", ("a",)),
        ("self.add_module(name, x)", ("*",)),
        ("setattr(self, 'a', 1)", ("a",)),
        ("setattr(self, f'a{i}', 1)", ("*",)),
        ("with x:\n    self.a = 1", ("a",)),
        ("def inner():\n    pass\nself.a = 1", ("a",)),
        ("a = 1", ()),
        ("other.a = 1", ()),
        ("self.a.b = 1", ()),
        ("self.a.sum()", ()),
        ("setattr(other, 'a', 1)", ()),
        ("print(self.a)", ()),
    ],
)
def test_what_a_method_stores_on_self(statement: str, stores: tuple[str, ...]) -> None:
    body = textwrap.indent(statement, " " * 8)
    facts = _facts(f"class Model:\n    def set(self):\n{body}\n")

    assert facts.functions[0].stores == stores


def test_a_function_has_no_self_and_a_method_may_call_it_otherwise() -> None:
    facts = _facts(
        """\
        def function(self):
            self.a = 1

        class Model:
            def method(this):
                this.a = 1
                self.b = 1
        """
    )

    assert [f.stores for f in facts.functions] == [(), ("a",)]


@pytest.mark.parametrize(
    ("line", "has_site"),
    [
        ("with torch.cuda.graph(g): pass", True),
        ("with graph(g): pass", True),
        ("torch.cuda.make_graphed_callables(f, x)", True),
        ("torch.compile(f, mode='reduce-overhead')", True),
        ("torch.compile(f, mode='max-autotune')", True),
        ("torch.compile(f)", False),
        ("subgraph(g)", False),
        ("g.replay()", False),
    ],
)
def test_a_function_with_a_capture_site_is_marked(line: str, has_site: bool) -> None:
    facts = _facts(f"def capture():\n    {line}\n\ndef other():\n    pass\n")

    assert [f.has_site for f in facts.functions] == [has_site, False]


@pytest.mark.parametrize(
    "text",
    [
        "# capturelint: captured\ndef step(): pass\n",
        "def step():  # capturelint: captured\n    pass\n",
        "@wrap\n# capturelint: captured\ndef step(): pass\n",
        "# capturelint: captured\n@wrap\ndef step(): pass\n",
        "def step():\n    # capturelint: captured\n    pass\n",
        "#capturelint:captured by the engine\ndef step(): pass\n",
    ],
)
def test_a_marker_stands_at_the_head_of_a_function(text: str) -> None:
    assert [f.marker for f in _facts(text).functions] == ["captured"]


@pytest.mark.parametrize(
    "text",
    [
        "def step():\n    pass\n    # capturelint: captured\n",
        "# capturelint: capture\ndef step(): pass\n",
        "def before(): pass\n# captured\ndef step(): pass\n",
    ],
)
def test_a_marker_elsewhere_marks_nothing(text: str) -> None:
    assert {f.marker for f in _facts(text).functions} == {""}


def test_a_class_may_be_marked() -> None:
    facts = _facts("# capturelint: eager\nclass Model:\n    def forward(self): pass\n")

    assert facts.classes[0].marker == "eager"
    assert facts.functions[0].marker == ""
    assert facts.has_comments


def test_functions_in_every_block_are_found() -> None:
    facts = _facts(
        """\
        try:
            def a(): pass
        except ImportError:
            def b(): pass
        else:
            def c(): pass
        finally:
            def d(): pass
        for i in x:
            def e(): pass
        with y:
            def f(): pass
        match z:
            case 1:
                def g(): pass
        while True:
            async def h(): pass
        """
    )

    assert sorted(f.name for f in facts.functions) == list("abcdefgh")
    assert sorted(facts.top_functions) == list("abcdefgh")
