"""Patches as git writes them: changed lines and renamed files."""

from __future__ import annotations

import pytest

from capturelint.lint.patch import read

_HEAD = b"diff --git a/m.py b/m.py\nindex 1..2 100644\n--- a/m.py\n+++ b/m.py\n"


@pytest.mark.parametrize(
    ("hunk", "lines"),
    [
        (b"@@ -3 +3 @@ class A:\n-x\n+y\n", range(3, 4)),
        (b"@@ -3,0 +4,2 @@\n+a\n+b\n", range(4, 6)),
        (b"@@ -3,2 +2,0 @@\n-a\n-b\n", range(2, 2)),
        (b"@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n", range(1, 2)),
    ],
)
def test_a_hunk_says_which_lines_are_new(hunk: bytes, lines: range) -> None:
    assert read(_HEAD + hunk).lines == {b"m.py": (lines,)}


def test_lines_that_look_like_headers_are_not() -> None:
    hunk = b"@@ -1,2 +1,3 @@\n---- a/x.py\n-@@ -9 +9 @@\n++++ b/y.py\n+@@ -7 +7 @@\n+rename to z\n"

    patch = read(_HEAD + hunk + b"@@ -9 +10 @@\n-a\n+b\n")

    assert patch.lines == {b"m.py": (range(1, 4), range(10, 11))}
    assert patch.renamed == {}


def test_renames_lead_from_new_to_old_with_or_without_changes() -> None:
    text = (
        b"diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\n"
        b'rename to "n\\303\\251w \\"1\\".py"\n'
        b"diff --git a/a.py b/b.py\nsimilarity index 90%\nrename from a.py\nrename to b.py\n"
        b"--- a/a.py\n+++ b/b.py\n@@ -1 +1 @@\n-x\n+y\n"
    )

    patch = read(text)

    assert patch.renamed == {'néw "1".py'.encode(): b"old.py", b"b.py": b"a.py"}
    assert patch.lines == {b"b.py": (range(1, 2),)}


@pytest.mark.parametrize(
    ("header", "path"),
    [
        (b"+++ b/a b.py\t", b"a b.py"),
        (b'+++ "b/a\\tb\\n\\\\\\".py"', b'a\tb\n\\".py'),
        (b'+++ "b/\\303\\251.py"', "é.py".encode()),
        (b"+++ b/b/b.py", b"b/b.py"),
        (b"+++ /dev/null", b"/dev/null"),
    ],
)
def test_paths_are_read_as_git_quotes_them(header: bytes, path: bytes) -> None:
    assert list(read(header + b"\n@@ -1 +1 @@\n-x\n+y\n").lines) == [path]


def test_nothing_changed_is_nothing() -> None:
    assert (read(b"").lines, read(b"").renamed) == ({}, {})
