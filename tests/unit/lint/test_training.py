"""Arms that only training takes are looked at where everything is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.config import Scope
from tests.unit.lint.probe import found

_MODEL = """import random
import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(16, 16) for _ in range(4))

    def forward(self, x: torch.Tensor):
        for layer in self.layers:
{block}
            x = layer(x)
        return x
"""
_BLOCKS = [
    ("if self.training:\n    x = x / x.item()", "13 CL101"),
    ("chance = random.random()\nif self.training and chance < 0.1:\n    continue", "12 CL502"),
    ("skip = self.training and random.random() < 0.1\nif skip:\n    continue", "12 CL502"),
]


@pytest.mark.parametrize(("block", "wanted"), _BLOCKS)
def test_what_only_training_runs_is_reported_in_scope_all(
    tmp_path: Path, block: str, wanted: str
) -> None:
    text = _MODEL.format(block=_indented(block))

    assert found(tmp_path, {"m.py": text}) == []
    assert found(tmp_path, {"m.py": text}, scope=Scope.ALL) == [f"m.py:{wanted}"]


def test_scope_all_looks_at_what_training_leaves_out_too(tmp_path: Path) -> None:
    text = _MODEL.format(block=_indented("if not self.training:\n    x = x / x.item()"))

    assert found(tmp_path, {"m.py": text}) == ["m.py:13 CL101"]
    assert found(tmp_path, {"m.py": text}, scope=Scope.ALL) == ["m.py:13 CL101"]


def _indented(block: str) -> str:
    return "\n".join(" " * 12 + line for line in block.splitlines())
