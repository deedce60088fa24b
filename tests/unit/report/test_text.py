"""The report for people, whole."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from capturelint.finding import Effect, Finding, Span, Step
from capturelint.lint.result import CheckResult
from capturelint.report import text

_READ = Finding(
    "CL101",
    "host-read",
    (Effect.REFUSES, Effect.SLOW),
    "`.item()` reads a tensor on the host during capture",
    "pkg/model.py",
    Span(12, 12, 12, 20),
    source="        n = x.item()",
    chain=(Step("pkg/top.py", 3, "Top.forward"), Step("pkg/model.py", 12, "Model.helper")),
)
_UNREAD = Finding("CL000", "unreadable-file", (), "is binary", "x.py", Span(1, 0, 1, 1))
_RESULT = CheckResult(
    findings=(_READ, _UNREAD),
    roots=2,
    captured_functions=1204,
    files=3,
    presets=("timm", "vllm"),
    errors=(),
)


def test_a_finding_shows_its_place_effects_source_and_carets() -> None:
    assert text.render(_RESULT, color=False, show_chain=False) == (
        "pkg/model.py:12:13: CL101 host-read [refuses-capture, slow]"
        " `.item()` reads a tensor on the host during capture\n"
        "    n = x.item()\n"
        "        ^^^^^^^^\n"
        "x.py:1:1: CL000 unreadable-file is binary\n"
        "`capturelint rule CODE` says why and what to write instead\n"
        "2 findings, 3 files, 2 roots, 1,204 captured functions, preset timm, vllm,"
        " 1 not checked (CL000)"
    )


def test_a_chain_leads_from_the_root_to_the_finding() -> None:
    result = replace(_RESULT, findings=(_READ,))

    assert text.render(result, color=False, show_chain=True).splitlines()[3:5] == [
        "    captured from Top.forward (pkg/top.py:3)",
        "            calls Model.helper (pkg/model.py:12)",
    ]


def test_a_finding_of_several_lines_is_marked_to_the_end_of_the_first() -> None:
    finding = replace(_READ, span=Span(12, 12, 14, 1), source="        n = int(  ")
    result = replace(_RESULT, findings=(finding,))

    assert text.render(result, color=False, show_chain=False).splitlines()[1:3] == [
        "    n = int(",
        "        ^^^^",
    ]


def test_no_root_is_said_loudly_just_above_the_summary() -> None:
    result = replace(_RESULT, findings=(), roots=0, captured_functions=0, presets=())

    assert text.render(result, color=False, show_chain=False) == (
        f"{text.NO_ROOTS}\n0 findings, 3 files checked, 0 roots, 0 captured functions, no preset"
    )


def test_the_line_about_roots_gives_three_next_steps_the_best_first() -> None:
    steps = ("`roots`", "`# capturelint: captured`", "`--scope all`")

    places = [text.NO_ROOTS.find(step) for step in steps]

    assert -1 not in places
    assert places == sorted(places)


@pytest.mark.parametrize(("files", "needs_roots"), [(0, True), (3, False)])
def test_no_root_is_no_news_without_files_or_when_all_is_checked(
    files: int, needs_roots: bool
) -> None:
    result = replace(_RESULT, findings=(), roots=0, files=files)

    shown = text.render(result, color=False, show_chain=False, needs_roots=needs_roots)

    assert text.NO_ROOTS not in shown


def test_without_findings_there_is_nothing_to_explain() -> None:
    shown = text.render(replace(_RESULT, findings=()), color=False, show_chain=False)

    assert shown == (
        "0 findings, 3 files checked, 2 roots, 1,204 captured functions, preset timm, vllm"
    )


def test_colours_change_nothing_but_colours() -> None:
    plain = text.render(_RESULT, color=False, show_chain=True)
    colored = text.render(_RESULT, color=True, show_chain=True)

    assert "\x1b" not in plain
    assert "\x1b[1;31mCL101\x1b[0m" in colored
    assert "\x1b[2m`capturelint rule CODE`" in colored
    assert re.sub(r"\x1b\[[0-9;]*m", "", colored) == plain


def test_a_path_or_message_with_line_ends_breaks_no_line() -> None:
    finding = replace(_UNREAD, path="a\nb.py", message="is\n\x1b[2Jbinary")
    result = replace(_RESULT, findings=(finding,))

    assert text.render(result, color=False, show_chain=False).splitlines()[0] == (
        "a\\nb.py:1:1: CL000 unreadable-file is \N{REPLACEMENT CHARACTER}[2Jbinary"
    )
