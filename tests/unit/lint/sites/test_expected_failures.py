"""A capture that is expected to raise need not be replayed."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from tests.unit.lint.probe import found

_ABOVE = """\
import contextlib
import unittest

import pytest
import torch


class Test(unittest.TestCase):
    def test_capture(self, x: torch.Tensor) -> None:
        graph = torch.cuda.CUDAGraph()
"""
_CAPTURE = "with torch.cuda.graph(graph):\n    x * 2\n"


def _said(folder: Path, body: str) -> list[str]:
    text = _ABOVE + textwrap.indent(body, " " * 8)
    return found(folder, {"m.py": text}, select=("CL902",))


@pytest.mark.parametrize(
    "head",
    [
        "with pytest.raises(RuntimeError):",
        "with self.assertRaises(RuntimeError):",
        "with self.assertRaisesRegex(RuntimeError, 'capturing'):",
        "with contextlib.suppress(RuntimeError):",
    ],
)
def test_a_context_that_expects_an_exception(tmp_path: Path, head: str) -> None:
    assert _said(tmp_path, f"{head}\n" + textwrap.indent(_CAPTURE, "    ")) == []


@pytest.mark.parametrize("handler", ["pass", "print('as expected')", "return"])
def test_a_try_that_goes_on(tmp_path: Path, handler: str) -> None:
    inner = textwrap.indent(_CAPTURE, "    ")

    assert _said(tmp_path, f"try:\n{inner}except RuntimeError:\n    {handler}\n") == []


@pytest.mark.parametrize(
    "ending", ["finally:\n    torch.cuda.synchronize()\n", "except RuntimeError:\n    raise\n"]
)
def test_a_try_that_lets_the_exception_pass_does_not_count(tmp_path: Path, ending: str) -> None:
    inner = textwrap.indent(_CAPTURE, "    ")

    assert _said(tmp_path, f"try:\n{inner}{ending}") == ["m.py:12 CL902"]


def test_a_capture_after_a_try_is_no_part_of_it(tmp_path: Path) -> None:
    assert _said(tmp_path, f"try:\n    x.cpu()\nexcept RuntimeError:\n    pass\n{_CAPTURE}") == [
        "m.py:15 CL902"
    ]
