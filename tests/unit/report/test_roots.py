"""The list of captured regions, for people and for programs."""

from __future__ import annotations

from capturelint.finding import Step
from capturelint.lint.result import Reached, RootReport
from capturelint.report import roots
from capturelint.report.text import NO_ROOTS

_HELPER = Reached("helper", "b.py", 40, (Step("b.py", 9, "B.forward"), Step("b.py", 40, "helper")))
_ROOTS = (
    RootReport("B.forward", "b.py", 7, "forward of an nn.Module", (_HELPER,)),
    RootReport("run", "a.py", 3, "body of torch.cuda.graph", ()),
    RootReport("A.forward", "b.py", 2, "marker", (_HELPER,)),
)


def test_roots_stand_by_file_and_line_with_the_reason() -> None:
    assert roots.render_text(_ROOTS, color=False, reached=False) == (
        "a.py\n"
        "  3: run: body of torch.cuda.graph\n"
        "b.py\n"
        "  2: A.forward: marker; reaches 1 function\n"
        "  7: B.forward: forward of an nn.Module; reaches 1 function\n"
        "3 roots in 2 files, 4 captured functions"
    )


def test_reached_functions_show_the_way() -> None:
    assert roots.render_text(_ROOTS[:1], color=False, reached=True) == (
        "b.py\n"
        "  7: B.forward: forward of an nn.Module; reaches 1 function\n"
        "      helper (b.py:40)\n"
        "        by B.forward:9 -> helper:40\n"
        "1 root in 1 file, 2 captured functions"
    )


def test_no_root_is_said_loudly() -> None:
    assert roots.render_text((), color=False, reached=False) == (
        f"{NO_ROOTS}\n0 roots in 0 files, 0 captured functions"
    )


def test_json_holds_the_same() -> None:
    assert roots.render_json(_ROOTS[:1], reached=True) == (
        '{"version":1,"roots":[{"function":"B.forward","path":"b.py","line":7,"cell":null,'
        '"why":"forward of an nn.Module","scope":"captured","captured_functions":1,'
        '"reached":[{"function":"helper","path":"b.py","line":40,"cell":null,'
        '"chain":[{"path":"b.py","line":9,"function":"B.forward","cell":null},'
        '{"path":"b.py","line":40,"function":"helper","cell":null}]}]}],"captured_functions":2}'
    )


def test_json_without_reached_functions_says_null() -> None:
    assert '"captured_functions":1,"reached":null' in roots.render_json(_ROOTS[:1], reached=False)


def test_lines_of_a_notebook_are_those_of_a_cell() -> None:
    helper = Reached("nb.read", "nb.ipynb", 1, (Step("nb.ipynb", 5, "step", 3),), 2)
    shown = roots.render_text(
        (RootReport("nb.step", "nb.ipynb", 2, "marker", (helper,), 3),), color=False, reached=True
    )

    assert shown.splitlines()[:4] == [
        "nb.ipynb",
        "  cell 3:2: nb.step: marker; reaches 1 function",
        "      nb.read (nb.ipynb:cell 2:1)",
        "        by step:cell 3:5",
    ]
