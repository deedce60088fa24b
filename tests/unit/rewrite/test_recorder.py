"""Code that notes its values computes what it did before, and notes them by place."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from capturelint.finding import Span
from capturelint.rewrite.observation import Observation, Seen
from capturelint.source import SourceFile

if TYPE_CHECKING:
    from capturelint.rewrite.proof.recorder import Recorder

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

TEXT = """\
import torch


def step(x, n=2):
    é = x.sum()
    if é > 0:
        y = [x * i for i in range(n)]
    else:
        y = [f"{x}", (lambda t: t)(x), x[0, 1:]]
    x[0] += n
    return y if n else None
"""


def _run(*values: float) -> tuple[list[Any], Observation]:
    import torch

    from capturelint.rewrite.proof.recorder import NAME, Recorder

    tree = ast.parse(TEXT)
    function = tree.body[-1]
    assert isinstance(function, ast.FunctionDef)
    recorder: Recorder = Recorder(Observation())
    recorder.instrumented(tree, function, SourceFile.of(TEXT))
    names: dict[str, Any] = {NAME: recorder}
    exec(compile(tree, "m.py", "exec"), names)
    plain: dict[str, Any] = {}
    exec(compile(TEXT, "m.py", "exec"), plain)
    results = []
    for value in values:
        given, again = torch.full((2, 3), value), torch.full((2, 3), value)
        got, wanted = names["step"](given), plain["step"](again)
        assert str(got) == str(wanted)
        assert torch.equal(given, again)
        results.append(got)
    return results, recorder.observation


def test_values_are_noted_by_their_place_in_characters() -> None:
    _, seen = _run(1.0)

    assert seen.of(Span(5, 8, 5, 15)) == {Seen("tensor", "float32", (), "cpu", "Tensor")}
    assert seen.of(Span(6, 7, 6, 12)) == {Seen("tensor", "bool", (), "cpu", "Tensor")}
    assert seen.of(Span(7, 34, 7, 35)) == {Seen("number", name="int")}
    assert seen.of(Span(9, 39, 9, 47)) == frozenset()


def test_outcomes_of_conditions_are_noted() -> None:
    _, once = _run(1.0)
    _, twice = _run(1.0, -1.0)

    assert once.outcomes[Span(6, 7, 6, 12)] == {True}
    assert twice.outcomes[Span(6, 7, 6, 12)] == {True, False}
