"""CL904 across methods: a graph that one method captures and keeps, and another one replays."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.unit.lint.probe import found

_HEAD = """
import torch
class Runner:
    def __init__(self, model):
        self.model, self.graphs, self.graph, self.others = model, {}, None, {}
        self.tokens = torch.zeros(8, device="cuda")
"""
_CAPTURE = """
def capture(self, n):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        self.out = self.model(self.tokens)
    self.graphs[n] = graph
"""
_REPLAY = """
def run(self, n, tokens):
    self.tokens = tokens.cuda()
    self.graphs[n].replay()
"""


def _codes(folder: Path, *methods: str) -> list[str]:
    body = "".join(textwrap.indent(one, "    ") for one in methods)
    return [one.split()[1] for one in found(folder, {"m.py": _HEAD + body}, select=("CL904",))]


@pytest.mark.parametrize(
    ("old", "new", "capture", "is_told"),
    [
        ("", "", _CAPTURE, True),
        # The graph has a name of its own, in either method.
        ("self.graphs[n].replay()", "kept = self.graphs[n]\n    kept.replay()", _CAPTURE, True),
        ("self.graphs[n].", "self.graph.", _CAPTURE.replace("graphs[n]", "graph"), True),
        # What is replayed is another graph, or may be one.
        ("self.graphs[n].replay()", "self.others[n].replay()", _CAPTURE, False),
        (
            "",
            "",
            _CAPTURE + "    graph = self.model.graph\n    self.graphs[n] = graph\n",
            False,
        ),
        ("self.graphs[n].", "self.others[n].", _CAPTURE + "    self.others[n] = n\n", False),
        # It is captured anew before the replay, in whatever method.
        ("self.graphs[n].", "self.capture(n)\n    self.graphs[n].", _CAPTURE, False),
        (
            "self.graphs[n].",
            "self.ready(n)\n    self.graphs[n].",
            _CAPTURE + "def ready(self, n):\n    self.capture(n)\n",
            False,
        ),
        # The region asks only for its form; the captured tensor is written.
        ("", "", _CAPTURE.replace("self.tokens", "self.tokens.size(0)"), False),
        ("self.tokens = tokens.cuda()", "self.tokens.copy_(tokens)", _CAPTURE, False),
        ("tokens.cuda()", "tokens", _CAPTURE, True),
        # It may still be the captured tensor, or no tensor at all.
        ("tokens.cuda()", "self.tokens.contiguous()", _CAPTURE, False),
        ("tokens.cuda()", "self.model.filled(self.tokens)", _CAPTURE, False),
        ("", "", _CAPTURE + "def reset(self, n):\n    self.tokens = n\n", False),
    ],
)
def test_an_input_that_is_bound_anew_is_told_where_its_own_graph_is_replayed(
    old: str, new: str, capture: str, is_told: bool, tmp_path: Path
) -> None:
    codes = _codes(tmp_path, capture, _REPLAY.replace(old, new) if old else _REPLAY)

    assert codes == ["CL904"] * is_told


def test_of_two_graphs_of_one_name_each_is_kept_where_it_was_put(tmp_path: Path) -> None:
    second = _CAPTURE.replace("self.tokens", "self.model.other").replace(
        "self.graphs", "self.others"
    )
    both = _CAPTURE + second.replace("def capture(self, n):\n", "")

    assert _codes(tmp_path, both, _REPLAY) == ["CL904"]
    assert _codes(tmp_path, both, _REPLAY.replace("graphs", "others")) == []
