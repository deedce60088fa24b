"""Which findings a change brought, by findings before and after made by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from capturelint.finding import Effect, Finding, Span, Step
from capturelint.lint.since import Changes, due

_READ = Finding(
    "CL101", "host-read", (Effect.REFUSES,), "reads", "m.py", Span(9, 8, 9, 16), "m.A.f", "x.item()"
)
_CHANGES = Changes({"m.py": (range(20, 30),)}, frozenset(), frozenset({"m.py"}), {})


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "top").mkdir()
    monkeypatch.chdir(tmp_path / "top")


def _due(
    now: list[Finding], before: list[Finding], changes: Changes = _CHANGES
) -> tuple[list[Finding], frozenset[Finding]]:
    """Return what is due, and what of it is distant; the old files lie in a folder beside ours."""
    folder = Path("../old").resolve()
    old = [replace(finding, path=f"{folder}/{finding.path}") for finding in before]
    found = due(now, old, changes, top=Path(), folder=folder)
    return list(found.findings), found.distant


def _at(first: int, last: int | None = None) -> Finding:
    return replace(_READ, span=Span(first, 0, last or first, 3))


def test_a_line_that_changed_is_due_even_if_it_was_a_finding_before() -> None:
    assert _due([_at(25)], [_at(25)]) == ([_at(25)], frozenset())


@pytest.mark.parametrize(("first", "last", "is_due"), [(18, 20, True), (29, 31, True), (18, 19, False), (30, 31, False)])  # fmt: skip
def test_a_finding_of_several_lines_is_due_if_one_of_them_changed(
    first: int, last: int, is_due: bool
) -> None:
    found, _ = _due([_at(first, last)], [_READ])

    assert bool(found) is is_due


def test_a_changed_line_does_not_use_up_what_was_there_before() -> None:
    assert _due([_at(9), _at(25)], [_at(9)]) == ([_at(25)], frozenset())


def test_one_more_equal_finding_is_due_and_distant() -> None:
    assert _due([_at(3), _at(9)], [_at(9)]) == ([_at(9)], frozenset({_at(9)}))


def test_the_function_tells_equal_lines_apart() -> None:
    other = replace(_READ, chain=(Step("m.py", 9, "B.f"),), function="m.B.f")
    before = replace(_READ, chain=(Step("m.py", 9, "A.f"),))

    assert _due([before, other], [before])[0] == [other]


def test_a_bug_of_ours_is_always_told_and_a_file_not_read_if_it_changed() -> None:
    failed, unread = (
        replace(_READ, code=code, function="", source="") for code in ("CL001", "CL000")
    )
    elsewhere = replace(_CHANGES, lines={"n.py": (range(1, 2),)})

    assert _due([unread, failed], [unread, failed])[0] == [unread, failed]
    assert _due([unread, failed], [unread, failed], elsewhere)[0] == [failed]


def test_a_file_that_git_does_not_know_is_left_out() -> None:
    assert _due([replace(_READ, path="made.py")], []) == ([], frozenset())


def test_the_lines_of_a_cell_are_not_those_of_the_file() -> None:
    in_cell = replace(_at(25), path="nb.ipynb", cell=3)
    changes = Changes({"nb.ipynb": (range(1, 99),)}, frozenset(), frozenset({"nb.ipynb"}), {})

    assert _due([in_cell], [in_cell], changes)[0] == []
    assert _due([in_cell], [], changes)[0] == [in_cell]
