"""What runs every so many steps does not run each step."""

from __future__ import annotations

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
]
_REPORTS = [
    "logger is not None or step % every == 0",
    "self.logger or step == 1 or step % every == 0",
]
_OFTEN = [
    "step % 2 == 0",
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
