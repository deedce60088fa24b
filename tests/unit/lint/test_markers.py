"""Which definition a mark belongs to."""

from __future__ import annotations

import ast
import textwrap
from pathlib import Path

import pytest

from capturelint.lint.markers import Definition, Markers
from tests.unit.lint.probe import found


def _marks(text: str) -> dict[str, str]:
    """Return the mark of each definition in the dedented `text`, `C` for captured and `E` for eager."""
    text = textwrap.dedent(text).replace("# C", "# capturelint: captured")
    text = text.replace("# E", "# capturelint: eager")
    markers = Markers(text)
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, Definition)]
    return {node.name: markers.of(node) for node in nodes}


@pytest.mark.parametrize(
    "text",
    [
        "# C\n\n\ndef f(): pass\n",
        "# C\n# words\n\n# more\n@wrap\n# and more\n@wrap(\n    1,\n)\nasync def f(): pass\n",
        "@wrap  # C\n\nclass f: pass\n",
        "def f(\n    x,  # C\n): pass\n",
        "def f():\n\n    # words\n    # C\n    pass\n",
        "x = 1\n# C\ndef f(): return 1\n",
        "def f():  # C\n    @wrap\n    class Inner: pass\n    return Inner\n",
        "if x:\n# C\n    def f(): pass\n",
    ],
)
def test_a_mark_stands_above_or_in_the_head(text: str) -> None:
    assert _marks(text)["f"] == "captured"


@pytest.mark.parametrize(
    "text",
    [
        "# C\nx = 1\ndef f(): pass\n",
        "x = 1  # C\ndef f(): pass\n",
        "def before():\n    pass\n    # C\n\ndef f(): pass\n",
        "def f():\n    pass\n    # C\n",
        "# C\nif x:\n    def f(): pass\n",
        "# capturelint: captured-ish\ndef f(): pass\n",
    ],
)
def test_a_mark_elsewhere_is_not_its(text: str) -> None:
    assert _marks(text)["f"] == ""


def test_a_mark_above_the_first_method_is_not_the_classs() -> None:
    text = """\
        class Model:
            # E
            @wrap
            def f(self): pass

            # C

            def g(self): pass
    """

    assert _marks(text) == {"Model": "", "f": "eager", "g": "captured"}


def test_a_mark_on_one_line_is_not_the_next_definitions() -> None:
    assert _marks("def f(): pass  # C\ndef g(): pass\n") == {"f": "captured", "g": ""}


def test_the_nearest_of_two_marks_counts() -> None:
    assert _marks("# E\n# C\ndef f(): pass\n") == {"f": "captured"}


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_make_no_difference(end: str) -> None:
    text = f"# capturelint: eager{end}{end}def f():{end}    pass{end}"
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)

    assert Markers(text).line_of(node) == 1


@pytest.mark.parametrize("word", ["capturelint", "Capturelint", "CaptureLint", "CAPTURELINT"])
def test_the_name_may_be_written_in_any_case(tmp_path: Path, word: str) -> None:
    text = f"import torch\n\n# {word}: captured\ndef f(x: torch.Tensor):\n    x.item()\n"

    assert found(tmp_path, {"m.py": text}) == ["m.py:5 CL101"]
