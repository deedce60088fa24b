"""Workflow commands of GitHub Actions, character by character."""

from __future__ import annotations

from dataclasses import replace

import pytest

from capturelint.finding import Effect, Finding
from capturelint.report import github
from capturelint.report.text import DISTANT
from tests.unit.report.findings import IDLE, IN_CELL, READ, SLOW, UNREAD, result_of


def _commands(*findings: Finding, folder: str = "") -> list[str]:
    """Return the commands without the summary."""
    *lines, _ = github.render(result_of(*findings), folder=folder).split("\n")
    return lines


def test_what_breaks_a_graph_is_an_error() -> None:
    [command] = _commands(READ)

    assert command == (
        "::error file=pkg/model.py,line=12,endLine=12,col=13,endColumn=21,title=CL101 host-read"
        "::`.item()` reads a tensor [refuses-capture, slow]"
    )


def test_what_went_wrong_and_the_summary_are_in_the_log() -> None:
    assert github.render(
        result_of(errors=("roots: `x`\n50%",), warnings=("step: `y`",))
    ).splitlines() == [
        "::error title=capturelint::roots: `x`%0A50%25",
        "::warning title=capturelint::step: `y`",
        "0 findings, 3 files checked, 1 root, 2 captured functions, no preset",
    ]


@pytest.mark.parametrize(
    ("finding", "kind"),
    [
        (SLOW, "warning"),
        (IDLE, "warning"),
        (UNREAD, "error"),
        (replace(UNREAD, code="CL001"), "error"),
        (replace(SLOW, effects=(Effect.STALE,)), "error"),
    ],
)
def test_the_effect_decides_between_error_and_warning(finding: Finding, kind: str) -> None:
    assert _commands(finding)[0].startswith(f"::{kind} file=")


def test_of_several_lines_there_are_no_columns() -> None:
    assert _commands(SLOW) == [
        "::warning file=a b.py,line=3,endLine=5,title=CL701 sync-call::waits [slow]"
    ]


def test_properties_and_message_are_escaped_differently() -> None:
    finding = replace(UNREAD, path="a%,:\r\n.py", message="50%, a: b\r\nc")

    [command] = _commands(finding)

    assert command == (
        "::error file=a%25%2C%3A%0D%0A.py,line=1,endLine=1,col=1,endColumn=2,"
        "title=CL000 unreadable-file::50%25, a: b%0D%0Ac"
    )


def test_nothing_in_a_name_or_a_message_reaches_the_cursor() -> None:
    [command] = _commands(replace(READ, path="a\x1b[2J.py", message="\x1b[1mb\u2028"))

    assert command.isprintable()
    assert "file=a\\x1b[2J.py," in command


def test_a_cell_is_told_in_words_because_its_lines_are_not_those_of_the_file() -> None:
    assert _commands(IN_CELL) == [
        "::error file=nb.ipynb,title=CL101 host-read::cell 3, line 2: reads [refuses-capture]"
    ]


def test_paths_start_at_the_top_of_the_repository() -> None:
    outside = replace(READ, path="/usr/x.py")

    inside, absolute = _commands(READ, outside, folder="sub/dir")

    assert inside.startswith("::error file=sub/dir/pkg/model.py,")
    assert absolute.startswith("::error file=/usr/x.py,")


def test_of_what_a_change_elsewhere_brought_that_is_said() -> None:
    [command, _] = github.render(result_of(READ), distant=[READ]).splitlines()

    assert command.endswith(f" ({DISTANT})")
