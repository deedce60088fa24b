"""What runs every so many steps does not run each step."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from capturelint.config import Scope
from tests.unit.lint.probe import found

_LOOP = """import torch

def train(model, step: int, every: int, layer: int, x: torch.Tensor, logger=None):
    if {test}:
        print(x.item())
"""
_RARE = [
    "step % every == 0",
    "step == 1 or step % every == 0",
    "logger is not None and step % every == 0",
    "not step % 100",
    "step % 2 == 0",
    "step % 10 == 9",
    "9 == step % 10",
    "0 == (step + 1) % every",
    "not step % every != 0",
    "not (step % every or logger is None)",
]
_REPORTS = [
    "logger is not None or step % every == 0",
    "self.logger or step == 1 or step % every == 0",
]
_OFTEN = [
    "step % 1 == 0",
    "step % every",
    "step % every != 9",
    "x.size(0) % 2 == 0",
    "layer % 2 == 0",
    "self.num_steps % 2 == 0",
    "logger is not None",
    "logger is None or step % every == 0",
    "layer is not None or step % every == 0",
    "catalog or step % every == 0",
    "step % every != 0",
    "step == 1",
    "step // every == 0",
    "layer % every == 0",
]


@pytest.mark.parametrize("test", [*_RARE, *_REPORTS])
def test_outside_captured_code_it_is_not_reported(tmp_path: Path, test: str) -> None:
    assert found(tmp_path, {"m.py": _LOOP.format(test=test)}, scope=Scope.ALL) == []


@pytest.mark.parametrize("test", _OFTEN)
def test_what_may_run_each_step_is_reported(tmp_path: Path, test: str) -> None:
    text = _LOOP.format(test=test)

    assert found(tmp_path, {"m.py": text}, scope=Scope.ALL) == ["m.py:5 CL101"]


@pytest.mark.parametrize("test", _REPORTS)
def test_around_captured_code_a_logger_may_have_it_run_each_step(tmp_path: Path, test: str) -> None:
    text = _LOOP.format(test=test)

    assert found(tmp_path, {"m.py": text}, scope=Scope.STEP, step=("m.train",)) == ["m.py:5 CL101"]


@pytest.mark.parametrize("scope", [Scope.STEP, Scope.ALL])
def test_a_flag_stands_for_its_condition(tmp_path: Path, scope: Scope) -> None:
    text = _LOOP.format(test="due").replace("    if", "    due = step % every == 0\n    if")
    settings = {"scope": scope, "step": ("m.train",) if scope is Scope.STEP else ()}

    assert found(tmp_path, {"m.py": text}, **settings) == []
    later = text.replace("    if", "    step = layer\n    if")
    assert found(tmp_path, {"m.py": later}, **settings) == ["m.py:7 CL101"]


@pytest.mark.parametrize("scope", [Scope.CAPTURED, Scope.ALL])
def test_in_captured_code_it_is_reported(tmp_path: Path, scope: Scope) -> None:
    text = _LOOP.format(test="step % every == 0").replace("def", "# capturelint: captured\ndef")

    assert "m.py:6 CL101" in found(tmp_path, {"m.py": text}, scope=scope)


_STEPS = """import itertools
import torch
from tqdm import tqdm

class Runner:
    def step(self, graph: torch.cuda.CUDAGraph, y: torch.Tensor, loader, optimizer):
{body}
"""
_COUNTED = {
    "a range": "for i in range(9):\n    graph.replay()\n    if i % 10 == 0:\n        y.item()",
    "enumerate": "for i, x in enumerate(loader):\n    graph.replay()\n    if i % 2 == 0: y.item()",
    "a bar": "for i, x in tqdm(enumerate(loader)):\n    graph.replay()\n    if i % 2 == 0: y.item()",
    "count": "for i in itertools.count():\n    graph.replay()\n    if not (i + 1) % 5: y.item()",
    "a name": "n = 0\nwhile True:\n    graph.replay()\n    n += 1\n    if n % 50 == 3: y.item()",
    "a sum": "n = 0\nwhile True:\n    graph.replay()\n    n = n + 1\n    if 3 == n % 50: y.item()",
    "an attribute": "graph.replay()\nself.n += 1\nif self.n % 50 == 0: y.item()",
    "a global name": "global n\ngraph.replay()\nn += 1\nif n % 50 == 0: y.item()",
    "a guard": "graph.replay()\nself.n += 1\nif self.n % 50 != 0:\n    return\ny.item()",
    "a short guard": "for i in range(9):\n    graph.replay()\n    if i % 9: continue\n    y.item()",
    "an else": "for i in range(9):\n    graph.replay()\n    if i % 9: pass\n    else: y.item()",
    "both loops": (
        "for i in range(9):\n    for x in loader:\n        graph.replay()\n"
        "        if i % 2 == 0: y.item()"
    ),
}
_OTHERS = {
    "layers": "graph.replay()\nfor i in range(9):\n    if i % 2 == 0: y.item()",
    "layers in a step": (
        "for i in range(9):\n    graph.replay()\n    for k in range(3):\n"
        "        if k % 2 == 0: y.item()"
    ),
    "layers of the same name": (
        "for i in range(9):\n    graph.replay()\n    for i in range(3):\n"
        "        if i % 2 == 0: y.item()"
    ),
    "sizes": "for n in loader:\n    graph.replay()\n    if n % 2 == 0: y.item()",
    "a count of something": (
        "n = 0\nwhile True:\n    graph.replay()\n    if y is None: n += 1\n"
        "    if n % 50 == 0: y.item()"
    ),
    "a count from anew": (
        "while True:\n    graph.replay()\n    n = 0\n    n += 1\n    if n % 50 == 0: y.item()"
    ),
    "a local count": "graph.replay()\nn = 0\nn += 1\nif n % 50 == 0: y.item()",
    "an attribute of layers": (
        "graph.replay()\nfor x in loader:\n    self.n += 1\n    if self.n % 2 == 0: y.item()"
    ),
    "all but some": "for i in range(9):\n    graph.replay()\n    if i % 9: y.item()",
    "each": "for i in range(9):\n    graph.replay()\n    if i % 1 == 0: y.item()",
    "a guard of some": "graph.replay()\nself.n += 1\nif self.n % 50 == 0: return\ny.item()",
}


def _reads(folder: Path, body: str, scope: Scope) -> list[str]:
    text = _STEPS.format(body=textwrap.indent(body, " " * 8))
    return found(folder, {"m.py": text}, scope=scope)


@pytest.mark.parametrize("scope", [Scope.STEP, Scope.ALL])
@pytest.mark.parametrize("body", _COUNTED.values(), ids=_COUNTED)
def test_what_counts_steps_needs_no_name_that_says_so(
    tmp_path: Path, body: str, scope: Scope
) -> None:
    assert _reads(tmp_path, body, scope) == []


@pytest.mark.parametrize("scope", [Scope.STEP, Scope.ALL])
@pytest.mark.parametrize("body", _OTHERS.values(), ids=_OTHERS)
def test_what_counts_something_else_is_no_period(tmp_path: Path, body: str, scope: Scope) -> None:
    assert [code for place in _reads(tmp_path, body, scope) for code in place.split()[1:]] == [
        "CL101"
    ]


def test_a_loop_that_trains_is_one_of_steps(tmp_path: Path) -> None:
    body = "for i, x in enumerate(loader):\n    {}\n    if i % 2 == 0: y.item()"

    for call in ("y.backward()", "optimizer.step()"):
        assert _reads(tmp_path, body.format(call), Scope.ALL) == []
    for call in ("self.step()", "loader.reset()"):
        assert len(_reads(tmp_path, body.format(call), Scope.ALL)) == 1


@pytest.mark.parametrize(
    "body",
    [
        "for i in range(9):\n    graph.replay()\nfor i in range(3):\n    if i % 2 == 0: y.item()",
        "self.n += 1\nif self.n % 50 == 0: y.item()",
    ],
    ids=["a later loop", "calls of no step"],
)
def test_among_all_functions_what_is_no_step_counts_none(tmp_path: Path, body: str) -> None:
    assert len(_reads(tmp_path, body, Scope.ALL)) == 1
