"""Findings held against the ones that are known."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from capturelint.finding import Effect, Finding, Span
from capturelint.lint.baseline import BaselineError, Entry, compare, load, text_of, text_with

_LINE = "    n = x.item()"
_READ = Finding(
    "CL101", "host-read", (Effect.REFUSES,), "reads", "pkg/m.py", Span(9, 8, 9, 16), "m.f", _LINE
)


def _known(*findings: Finding, folder: Path | None = None) -> tuple[Entry, ...]:
    """Return what a baseline in `folder` holds after these findings were written to it."""
    place = folder or Path()
    path = place / "known.json"
    path.write_text(text_of(findings, place), encoding="utf-8")
    return load(path)


def _new(now: Iterable[Finding], known: Iterable[Finding]) -> list[Finding]:
    return list(compare(list(now), _known(*known), Path()).new)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "now",
    [
        _READ,
        replace(_READ, span=Span(99, 8, 99, 16)),
        replace(_READ, source="\tn=x.item()", span=Span(9, 3, 9, 11)),
        replace(_READ, message="says it in other words"),
        # A formatter broke the line around the reported part.
        replace(_READ, source="        x.item()", span=Span(10, 8, 10, 16)),
        replace(_READ, source="    n = (x.item(),", span=Span(10, 9, 10, 17)),
    ],
)
def test_a_known_finding_is_known_after_moves_and_formatting(now: Finding) -> None:
    assert _new([now], [_READ]) == []


@pytest.mark.parametrize(
    "now",
    [
        replace(_READ, code="CL102"),
        replace(_READ, function="m.g"),
        replace(_READ, path="pkg/other.py"),
        replace(_READ, source="    n = y.item()"),
    ],
)
def test_code_function_path_and_text_make_it_another_finding(now: Finding) -> None:
    compared = compare([now], _known(_READ), Path())

    assert compared.new == (now,)
    assert [entry.line for entry in compared.gone] == ["n = x.item()"]


def test_a_line_with_other_quotes_is_the_same() -> None:
    single = replace(_READ, source="    n = x['a'].item()")

    assert _new([replace(single, source='    n = x["a"].item()')], [single]) == []


def test_of_equal_lines_in_a_function_as_many_are_known_as_were_written() -> None:
    first, second, third = (replace(_READ, span=Span(n, 8, n, 16)) for n in (3, 5, 7))

    assert _new([first, second], [first, second]) == []
    assert _new([first, second, third], [first, second]) == [third]
    assert len(compare([third], _known(first, second), Path()).gone) == 1


def test_what_could_not_be_checked_is_never_known() -> None:
    unread = Finding("CL000", "unreadable-file", (), "is binary", "m.py", Span(1, 0, 1, 1))

    assert _new([unread, _READ], [unread, _READ]) == [unread]


def test_paths_are_relative_to_the_folder_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lint").mkdir()
    entries = _known(_READ, folder=tmp_path / "lint")
    (tmp_path / "pkg").mkdir()
    monkeypatch.chdir("pkg")

    assert [entry.path for entry in entries] == ["../pkg/m.py"]
    assert compare([replace(_READ, path="m.py")], entries, tmp_path / "lint").new == ()


def test_the_file_can_be_read_by_people_and_reformatted() -> None:
    _known(_READ)
    path = Path("known.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(document, separators=(",", ":")), encoding="utf-8-sig")

    assert document == {
        "capturelint_baseline": 1,
        "findings": [
            {
                "path": "pkg/m.py",
                "code": "CL101",
                "function": "m.f",
                "line": "n = x.item()",
                "reported": "x.item()",
            }
        ],
    }
    assert load(path) == (Entry("pkg/m.py", "CL101", "m.f", "n = x.item()", "x.item()"),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (None, "is not there"),
        ("", "is not valid JSON: Expecting value at line 1, column 1"),
        (
            "{\n<<<<<<< HEAD",
            "is not valid JSON: Expecting property name enclosed in double quotes at",
        ),
        ("[" * 100_000, "is not valid JSON"),
        ("\udcff", "is not valid JSON"),
        ("[]", "is no baseline of capturelint"),
        ('{"version": 1, "findings": []}', "is no baseline of capturelint"),
        ('{"capturelint_baseline": 7}', "is of version 7; this capturelint reads 1"),
        ('{"capturelint_baseline": "1"}', "is of version '1'; this capturelint reads 1"),
        ('{"capturelint_baseline": 1}', "is broken: `findings` is no list"),
        ('{"capturelint_baseline": 1, "findings": [3]}', "is broken: finding 1 lacks a text"),
        (
            '{"capturelint_baseline": 1, "findings": [{"path": "a.py"}]}',
            "is broken: finding 1 lacks a text",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line(text: str | None, problem: str) -> None:
    path = Path("known.json")
    if text is not None:
        path.write_bytes(text.encode("utf-8", "surrogateescape"))

    with pytest.raises(BaselineError) as error:
        load(path)

    assert str(error.value).startswith(f"baseline known.json {problem}")
    assert str(error.value).endswith("; `--write-baseline known.json` writes a new one")
    assert "\n" not in str(error.value)


def test_a_folder_is_no_baseline() -> None:
    with pytest.raises(BaselineError, match="cannot be read: "):
        load(Path())


def test_what_a_run_showed_is_kept_while_the_entry_stays() -> None:
    other = replace(_READ, function="m.g")
    path = Path("known.json")
    path.write_text(text_with({_READ: "it ran once"}, Path(), old=_known(other)), encoding="utf-8")
    old = load(path)

    assert [(entry.function, entry.evidence) for entry in old] == [
        ("m.g", ""),
        ("m.f", "it ran once"),
    ]
    assert "evidence" not in json.loads(path.read_text(encoding="utf-8"))["findings"][0]
    path.write_text(text_of([_READ, other, _READ], Path(), old=old), encoding="utf-8")
    assert [entry.evidence for entry in load(path)] == ["it ran once", "", ""]
    path.write_text(text_with({_READ: "it ran twice"}, Path(), old=old), encoding="utf-8")
    assert [entry.evidence for entry in load(path)] == ["", "it ran twice"]
