"""An attribute that captured code moves to the device, which only the first call does."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.config import Scope
from tests.unit.lint.probe import found

_MODEL = """import torch
from torch import nn

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(16)
        self.other = torch.arange(16)

    def forward(self, x: torch.Tensor):
        {line}
        return x
"""
_ALONE = """import torch

class Holder:
    def __init__(self):
        self.table = torch.arange(16)

    def ready(self, x: torch.Tensor):
        self.table = self.table.to(x.device)
"""


@pytest.mark.parametrize(
    "line",
    [
        "self.table = self.table.to(x.device)",
        "self.table: torch.Tensor = self.table.to(device=x.device)",
        'self.table = self.table.to("cuda:0")',
        "self.table = self.table.cuda()",
    ],
)
def test_a_move_of_an_attribute_is_reported_in_scope_all(tmp_path: Path, line: str) -> None:
    text = _MODEL.format(line=line)

    assert found(tmp_path, {"m.py": text}, select=("CL601",)) == []
    assert found(tmp_path, {"m.py": text}, select=("CL601",), scope=Scope.ALL) == ["m.py:11 CL601"]


@pytest.mark.parametrize(
    "line",
    [
        "self.table = self.table.to(x.dtype)",
        "self.table = self.table.float()",
        'self.table = self.table.to("cpu")',
        "self.table = self.other.to(x.device)",
        "table = self.table.to(x.device)",
        "if self.table.device != x.device: self.table = self.table.to(x.device)",
    ],
)
def test_other_conversions_are_not_moves(tmp_path: Path, line: str) -> None:
    text = _MODEL.format(line=line)

    assert found(tmp_path, {"m.py": text}, select=("CL601",), scope=Scope.ALL) == []


def test_what_nothing_captures_may_move_what_it_holds(tmp_path: Path) -> None:
    text = _MODEL.format(line="pass").replace("forward", "prepare")

    for one in (_ALONE, text.replace("pass", "self.table = self.table.to(x.device)")):
        assert found(tmp_path, {"m.py": one}, select=("CL601",), scope=Scope.ALL) == []
