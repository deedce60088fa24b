"""Fixes made again and again until nothing is left, each round held against a second look."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from capturelint.finding import Edit, Finding, Fix, Span
from capturelint.rewrite.form import Grade
from capturelint.rewrite.rounds import rewritten

PROVEN = frozenset({Grade.PROVEN})


def _finding(column: int, new: str = "1", *, code: str = "CL101", grade: str = "proven") -> Finding:
    span = Span(1, column, 1, column + 1)
    return Finding(code, "name", (), "message", "m.py", span, fix=Fix(grade, (Edit(span, new),)))


def _looking(text: str) -> list[Finding]:
    """Find each `a`, fixed as `b`, and each `b`, fixed as `1`."""
    news = {"a": "b", "b": "1"}
    return [_finding(at, news[letter]) for at, letter in enumerate(text) if letter in news]


def _look(texts: Mapping[str, str]) -> Sequence[Finding]:
    return [one for text in texts.values() for one in _looking(text)]


def test_fixes_go_on_until_nothing_is_found() -> None:
    done = rewritten(_looking("[b, b]"), PROVEN, lambda _: "[b, b]", _look)

    assert done.texts == {"m.py": "[1, 1]"}
    assert done.fixes == {"m.py": 2}
    assert not done.kept


def test_a_fix_that_mends_nothing_is_not_made() -> None:
    done = rewritten(_looking("a"), PROVEN, lambda _: "a", _look)

    assert (done.texts, done.kept) == ({}, {"m.py"})


def test_a_fix_that_brings_another_finding_is_not_made() -> None:
    worse = [_finding(0, code="CL202")]
    done = rewritten([_finding(0), _finding(1)], PROVEN, lambda _: "ab", lambda _: worse)

    assert (done.texts, done.kept) == ({}, {"m.py"})


def test_a_fix_that_breaks_the_file_is_not_made() -> None:
    done = rewritten([_finding(0, "(")], PROVEN, lambda _: "a", lambda _: [])

    assert (done.texts, done.kept) == ({}, {"m.py"})


def test_only_grades_that_were_asked_for_are_made() -> None:
    unsafe = [_finding(0, grade="unsafe")]
    both = PROVEN | {Grade.UNSAFE}

    assert rewritten(unsafe, PROVEN, lambda _: "a", lambda _: []).texts == {}
    assert rewritten(unsafe, both, lambda _: "a", lambda _: []).texts == {"m.py": "1"}


def test_a_file_that_must_not_be_changed_stays() -> None:
    done = rewritten(_looking("b"), PROVEN, lambda _: None, _look)

    assert (done.texts, done.kept) == ({}, set())
