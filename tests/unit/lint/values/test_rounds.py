"""How often functions are evaluated."""

from __future__ import annotations

from pathlib import Path

from tests.unit.lint.probe import IMPORTS, linked

_PAIRS = """
def pair(x):
    return x, 1


class Known(nn.Module):
    def forward(self, x: Tensor):
        return pair(x)


class Unknown(nn.Module):
    def forward(self, x: Tensor):
        return pair(self.whatever)
"""


def test_callers_of_what_is_known_no_better_than_before_are_evaluated_once(tmp_path: Path) -> None:
    found = linked(tmp_path, {"m.py": IMPORTS + _PAIRS})

    functions, states = found.project.functions, found.analysis.states
    rounds = {functions[at].facts.qualname: state.rounds for at, state in states.items()}
    assert rounds == {"pair": 2, "Known.forward": 1, "Unknown.forward": 1}
