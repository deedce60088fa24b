"""Classes whose `forward` runs eagerly between graphs, from source to source."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from capturelint.rewrite.excluding.breaking import CannotExcludeError, broken_out

OLD = '''\
"""A model."""

import torch


class Outer:
    class Inner:
        def forward(self, x, *rest, scale=1.0, **more):
            """Say what comes in."""
            return [x, rest, scale, more]
'''
NEW = '''\
"""A model."""

import torch
from breakable_cuda_graphs import is_in_breakable_graph, no_graph


def _leave_output_unwritten(self, output, *args, **kwargs) -> None:
    """Stand in while graphs are captured: inputs hold nothing yet."""


class Outer:
    class Inner:
        def _eager_forward(self, x, *rest, scale=1.0, **more):
            """Say what comes in."""
            return [x, rest, scale, more]

        def forward(self, x, *rest, scale=1.0, **more):
            if not is_in_breakable_graph():
                return self._eager_forward(x, *rest, scale=scale, **more)
            output = torch.empty_like(x)
            self._run_between_graphs(output, x, *rest, scale=scale, **more)
            return output

        @no_graph(capture_stub=_leave_output_unwritten)
        def _run_between_graphs(self, output, *args, **kwargs) -> None:
            result = self._eager_forward(*args, **kwargs)
            output.view_as(result).copy_(result)
'''


def changed(text: str, name: str = "Outer.Inner") -> str:
    return broken_out(text, name, like="x", torch="torch")


def test_forward_ends_a_graph_and_begins_the_next() -> None:
    assert changed(OLD) == NEW


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_new_lines_end_as_those_of_the_file(end: str) -> None:
    assert changed(OLD.replace("\n", end)) == NEW.replace("\n", end)


def test_a_second_class_of_a_file_shares_what_is_imported() -> None:
    more = "\n\nclass Other:\n    def forward(self, x: int) -> int:\n        return x\n"

    both = changed(changed(OLD + more), "Other")
    assert both.count("import is_in_breakable_graph") == 1
    assert both.count("def _eager_forward") == both.count("def _run_between_graphs") == 2
    assert "    def forward(self, x: int) -> int:\n        if not is_in" in both


def test_outside_of_a_capture_the_class_does_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    package: Any = ModuleType("breakable_cuda_graphs")
    package.is_in_breakable_graph = lambda: False
    package.no_graph = lambda *, capture_stub: lambda function: (function, capture_stub)[0]
    monkeypatch.setitem(sys.modules, "breakable_cuda_graphs", package)
    names: dict[str, Any] = {}
    exec(changed(OLD).replace("import torch\n", ""), names)

    made = names["Outer"].Inner()
    assert made.forward(1, 2, scale=3, other=4) == [1, (2,), 3, {"other": 4}]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (OLD.replace("Inner", "Other"), "Outer.Inner is not one class on top of its file"),
        (OLD.replace("forward", "call"), "has no plain `forward` of its own"),
        (OLD.replace("def forward", "async def forward"), "has no plain `forward` of its own"),
        (OLD.replace("        def", "        @cache\n        def"), "its `forward` is decorated"),
        (OLD.replace("return [", "yield ["), "its `forward` is a generator"),
        (OLD.replace("scale=1.0", "scale=now()"), "a default in its signature is computed"),
        (OLD + "no_graph = 1\n", "its file already calls something `no_graph`"),
        (OLD + "\nclass A:\n    def _eager_forward(self): ...\n", "something `_eager_forward`"),
    ],
)
def test_what_would_not_stay_the_same_is_left(text: str, why: str) -> None:
    with pytest.raises(CannotExcludeError, match=why):
        changed(text)
