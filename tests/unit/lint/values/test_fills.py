"""The arm that fills what `if key in cache:` did not find runs once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


@pytest.mark.parametrize(
    "block",
    [
        "if 'k' in self.made:\n    pass\nelse:\n    {mark}\n    self.made['k'] = x",
        "made = self.made\nif 'k' in made:\n    pass\nelse:\n    {mark}\n    made['k'] = x",
        "for g in self.made:\n    if 'k' in g:\n        g['k'] += 1\n    else:\n        {mark}\n        g['k'] = x",
    ],
)
def test_the_other_arm_fills_once(block: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _in_forward(block, "x  #: never runs"))

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "block",
    [
        "if 'k' in local:\n    pass\nelse:\n    {mark}\n    local['k'] = x",
        "if 'k' in self.made:\n    pass\nelse:\n    {mark}\n    self.made['other'] = x",
        "if 'k' in self.made:\n    pass\nelse:\n    {mark}\n    self.other['k'] = x",
        "if 'k' in self.made:\n    self.made.pop('k')\nelse:\n    {mark}\n    self.made['k'] = x",
        "if 'k' in self.made:\n    del self.made['k']\nelse:\n    {mark}\n    self.made['k'] = x",
        "if 'k' not in self.made:\n    pass\nelse:\n    {mark}\n    self.made['k'] = x",
        "for g in local:\n    if 'k' in g:\n        pass\n    else:\n        {mark}\n        g['k'] = x",
        "if 'k' in self.made:\n    pass\nelif x.ndim == 2:\n    self.made['k'] = x\nelse:\n    {mark}",
    ],
)
def test_other_arms_may_run_in_each_call(block: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _in_forward(block, "x  #: device tensor"))

    assert told.seen == told.wanted


def _in_forward(block: str, mark: str) -> str:
    lines = block.replace("{mark}", mark).splitlines()
    body = "".join(f"        {line}\n" for line in lines)
    return f"""
class Model(nn.Module):
    def forward(self, x: Tensor, local=None):
{body}"""
