"""What may change an attribute, or what it holds."""

from __future__ import annotations

import ast

import pytest

from capturelint.rewrite.fresh import assigned_in_init
from capturelint.rewrite.steady import Held, why_unsteady

INIT = "    def __init__(self, x):\n        super().__init__()\n        self.k = [1, 0]\n"


def _why(lines: str, *, is_flat: bool = True) -> str:
    body = "".join(f"        {one}\n" for one in lines.split("\n"))
    return _said(f"class A:\n{INIT}    def f(self, x, other):\n{body}", is_flat=is_flat)


def _said(text: str, *, is_flat: bool = True, classes: frozenset[str] = frozenset("A")) -> str:
    tree = ast.parse(text)
    made = assigned_in_init(tree, "A", "k")
    return why_unsteady(tree, Held("k", classes, is_flat), made)


@pytest.mark.parametrize(
    "lines",
    [
        "return x[:, self.k] + x[self.k]",
        "return x.index_select(1, self.k.to(x.device))",
        "return len(self.k) + self.k[0] + sum(self.k)",
        "for one in self.k:\n    x = x + one\nreturn x if self.k else 0",
        "return torch.tensor(self.k, device=x.device)",
        'return f"{self.k}" if self.k != [1] else self.k.index(1)',
    ],
)
def test_reads_keep_it(lines: str) -> None:
    assert _why(lines) == ""


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("self.k = x", "line 6: `self.k` is set there too"),
        ("other.k = x", "line 6: `other.k` is set there too"),
        ("self.k += x", "line 6: `self.k` is set there too"),
        ("del self.k", "line 6: `self.k` is set there too"),
        ("self.k[0] = 1", "line 6: `self.k` is changed there"),
        ("self.k[0][1] = 1", "line 6: `self.k` is changed there"),
        ("self.k.append(1)", "line 6: `self.k` is changed there"),
        ("self.k.add_(1)", "line 6: `self.k` is changed there"),
        ("self.k.data.add_(1)", "line 6: `self.k` is handed on"),
        ("order = self.k", "line 6: `self.k` is handed on"),
        ("return self.k", "line 6: `self.k` is handed on"),
        ("other(self.k)", "line 6: `self.k` is handed on"),
        ("other.k = self.k.to(x)", "line 6: `other.k` is set there too"),
        ("order = self.k.to(x)", "line 6: `self.k` is handed on"),
        ("order = self.k or []", "line 6: `self.k` is handed on"),
        ("order = [self.k]", "line 6: `self.k` is handed on"),
        ("setattr(self, 'k', x)", "line 6: `setattr(self, 'k', x)` may set it"),
        ("setattr(self, other, x)", "line 6: `setattr(self, other, x)` may set it"),
        ("getattr(self, 'k').append(x)", "line 6: `getattr(self, 'k')` may change it"),
        ("self.__dict__.update(x)", "line 6: `self.__dict__` may set it"),
        ("vars(self).update(x)", "line 6: `vars(self)` may set it"),
    ],
)  # fmt: skip
def test_what_may_change_it_is_told(lines: str, why: str) -> None:
    assert _why(lines).startswith(why)


@pytest.mark.parametrize(
    "lines", ["return self.k[0]", "return list(self.k)", "for one in self.k: pass"]
)
def test_parts_of_what_is_no_flat_list_may_be_changed(lines: str) -> None:
    assert "handed on" in _why(lines, is_flat=False)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (f"class A:\n{INIT}    @property\n    def k(self): ...\n", "line 1: `A` says itself"),
        (f"class A:\n{INIT}    def __setattr__(self, k, v): ...\n", "line 1: `A` says itself"),
        (f"class A:\n{INIT}    k: list\n", ""),
        (f"class A:\n{INIT}class B:\n    def f(self):\n        self.k = 1\n", ""),
        (
            f"class A:\n{INIT}class B:\n    def f(self, a):\n        a.k = 1\n",
            "line 7: `a.k` is set",
        ),
        (f"class A:\n{INIT}def f(a):\n    a.k.pop()\n", "line 6: `a.k` is changed there"),
    ],
)
def test_other_classes_have_attributes_of_their_own(text: str, why: str) -> None:
    assert _said(text).startswith(why) if why else not _said(text)


def test_in_files_without_the_class_only_writing_counts() -> None:
    assert _said("def f(a):\n    return g(a.k)\n", classes=frozenset()) == ""
    assert _said("def f(a):\n    return getattr(a, 'k')\n", classes=frozenset()) == ""
    assert _said("def f(a):\n    a.k[0] = 1\n", classes=frozenset()).endswith("is changed there")
