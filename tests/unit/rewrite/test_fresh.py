"""What `__init__` surely makes for an attribute that nothing else holds."""

from __future__ import annotations

import ast

import pytest

from capturelint.rewrite.fresh import made_in_init

FUNCTIONS = """
import functools
import torch


def listed(n):
    order = []
    for one in range(n):
        order.append(one)
    return order


def kept(n, held=[]):
    held.append(n)
    return held


def may_end(n):
    if n:
        return [1]


def either(n, order=None):
    if n:
        order = [1]
    return order


def shared(n):
    order = [1]
    ALL.append(order)
    return order


@functools.cache
def cached(n):
    return [1]


ALL = []
"""


def _made(lines: str) -> str:
    body = "".join(f"        {one}\n" for one in lines.split("\n"))
    init = "    def __init__(self, n: int, given):\n        super().__init__()\n"
    text = f"{FUNCTIONS}class A:\n{init}{body}"
    return made_in_init(ast.parse(text), "A", "k", "torch")


@pytest.mark.parametrize(
    ("lines", "kind"),
    [
        ("self.k = [0, -1, n + 2]", "list"),
        ("self.k: list[int] = [[i, n - i] for i in range(n)]", "list"),
        ("self.k = (0, 2)", "tuple"),
        ("self.k = list(given)", "list"),
        ("self.k = sorted(given) + [1] * n", "list"),
        ("self.k = given.argsort().tolist()", "list"),
        ("self.k = listed(n)", "list"),
        ("order = list(range(n))\norder.reverse()\nself.k = order", "list"),
        ("self.k = torch.tensor(given)", "tensor"),
        ("self.k = torch.arange(n).view(1, -1).flip(0)[::2] + n", "tensor"),
    ],
)
def test_what_is_made_right_there_is_known(lines: str, kind: str) -> None:
    assert _made(lines) == kind


@pytest.mark.parametrize(
    "lines",
    [
        "self.k = given",
        "self.k = given or [0]",
        "self.k = [given, 1]",
        "self.k = [0.5, 1]",
        "self.k = [one for one in given]",
        "self.k = given if n else [1]",
        "if n:\n    self.k = [1]",
        "self.k = [1]\nself.k = [2]",
        "self.k = self.j = [1]",
        "self.k = kept(n)",
        "self.k = may_end(n)",
        "self.k = either(n)",
        "self.k = shared(n)",
        "self.k = cached(n)",
        "self.k = unknown(n)",
        "order = [1]\ngiven.order = order\nself.k = order",
        "list = given\nself.k = list([1])",
        "torch = given\nself.k = torch.arange(n)",
        "self.k = torch.from_numpy(given)",
        "self.k = torch.as_tensor(given)",
        "self.k = torch.stack(given, out=n)",
        "self.k = given.view(-1)",
    ],
)
def test_what_others_may_hold_is_not(lines: str) -> None:
    assert _made(lines) == ""
