"""Reading and parsing: every bad file gives one clear problem, at the right place."""

from __future__ import annotations

import ast
import os
import socket
import sys
import warnings
from pathlib import Path

import pytest

from capturelint.finding import Finding, Span
from capturelint.lint.files import (
    SIZE_LIMIT,
    Problem,
    UnreadableFileError,
    as_finding,
    decode,
    parse,
    read_data,
)

_PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor}"


def _file(folder: Path, data: bytes) -> Path:
    path = folder / "model.py"
    path.write_bytes(data)
    return path


def _text_of(path: Path) -> str:
    return decode(read_data(path)[0], path)


def _problem(path: Path) -> tuple[int, int, str]:
    """Return line, column and message of what is wrong with a file."""
    with pytest.raises(UnreadableFileError) as caught:
        parse(_text_of(path), path)
    assert caught.value.problem.path == path
    return caught.value.problem.line, caught.value.problem.column, caught.value.problem.message


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", ""),
        ("x = 'é'\n".encode(), "x = 'é'\n"),
        (b"\xef\xbb\xbfx = 1\n", "x = 1\n"),
        (b"# -*- coding: latin-1 -*-\nx = '\xe9'\n", "# -*- coding: latin-1 -*-\nx = 'é'\n"),
        (b"#!/bin/sh\n# vim: set fileencoding=cp1251 :\n'\xcf'", None),
        (b"a = 1\r\nb = 2\r\n", "a = 1\r\nb = 2\r\n"),
        (b"'coding: \xc3\xa9'\n", "'coding: é'\n"),
    ],
)
def test_text_is_read_as_python_reads_it(tmp_path: Path, data: bytes, text: str | None) -> None:
    expected = data.decode("cp1251") if text is None else text

    assert _text_of(_file(tmp_path, data)) == expected


@pytest.mark.parametrize("name", ["a.ipynb", "A.IPYNB"])
def test_json_that_is_python_too_is_no_notebook(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"{}")

    assert _problem(path) == (1, 0, "is no notebook: it has no `nbformat`")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a = 1\nb = \0\n", (2, 4, "is binary: it contains a null byte")),
        (b"\x7fELF\x02\0\0", (1, 5, "is binary: it contains a null byte")),
        (
            "x = 1\n".encode("utf-16"),
            (1, 0, "is UTF-16; Python source must be UTF-8 or declare its encoding"),
        ),
        (
            b"a = 1\nb = '\xe9'\n",
            (2, 5, "is not valid utf-8: invalid continuation byte; declare its encoding in line 1"),
        ),
        (
            b"# coding: klingon\n",
            (1, 0, "has a bad encoding declaration: unknown encoding: klingon"),
        ),
        (b"# coding: hex\n", (1, 0, "declares 'hex', which is no encoding of text")),
        (b"#" * 10 * 2**20, (1, 0, "is 10.0 MiB long; files over 4 MiB are not checked")),
        (b"# coding: undefined\n", (1, 0, "is not valid undefined")),
        (b"f(\n", (1, 1, f"not valid for {_PYTHON}: '(' was never closed")),
        (b"x = '\xc3\xa9' $ 1\n", (1, 8, f"not valid for {_PYTHON}: invalid syntax")),
    ],
)
def test_bad_content_is_one_problem_at_its_place(
    tmp_path: Path, data: bytes, problem: tuple[int, int, str]
) -> None:
    assert _problem(_file(tmp_path, data)) == problem


def test_the_longest_file_is_still_read(tmp_path: Path) -> None:
    assert len(_text_of(_file(tmp_path, b"#" * SIZE_LIMIT))) == SIZE_LIMIT


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="the newest syntax that is tried is 3.14's")
def test_syntax_of_a_newer_python_names_the_running_one(tmp_path: Path) -> None:
    line, _, message = _problem(_file(tmp_path, b"x = 1\nx = t'{x}'\n"))

    assert (line, message) == (2, f"not valid for {_PYTHON}: invalid syntax")


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "-" * 5000 + "1",
        "x = " + "- " * 1600 + "1",
        "x = " + "not " * 5000 + "1",
        "x = a" + ".b" * 5000,
        "x = " + "1 + " * 5000 + "1",
        "x = " + "lambda: " * 5000 + "1",
        "if a:\n  pass\n" + "elif b:\n  pass\n" * 5000,
    ],
)
def test_code_nested_too_deeply_is_one_problem(text: str) -> None:
    with pytest.raises(UnreadableFileError) as caught:
        parse(text, Path("deep.py"))

    assert caught.value.problem == Problem(
        Path("deep.py"), 1, 0, "is nested too deeply to be checked"
    )


@pytest.mark.parametrize("opening", ["(", "[", "f("])
def test_brackets_nested_too_deeply_are_a_syntax_error(opening: str) -> None:
    with pytest.raises(UnreadableFileError, match="too many nested parentheses"):
        parse(opening * 5000, Path("deep.py"))


@pytest.mark.parametrize(
    "text",
    [
        "x = [" + "1, " * 5000 + "]",
        "if a:\n  pass\n" + "elif b:\n  pass\n" * 300,
        "x = " + "a + " * 300 + "a",
        "'" + "text " * 2000 + "'",
    ],
)
def test_long_code_that_is_not_deep_is_parsed(text: str) -> None:
    assert isinstance(parse(text, Path("long.py")), ast.Module)


def test_text_that_no_file_can_hold_is_a_problem() -> None:
    with pytest.raises(UnreadableFileError, match=f"not valid for {_PYTHON}: .*surrogates"):
        parse("x = '\udce9'", Path("stdin.py"))


def test_no_warning_about_checked_code_gets_out() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        parse("import re\nre.compile('\\d')\nx is 1\nassert (x, 1)\n", Path("model.py"))

    assert seen == []


def test_no_warning_about_checked_code_becomes_an_error() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = parse("'\\d'\n", Path("model.py"))

    assert len(tree.body) == 1


def test_a_missing_file_is_a_problem(tmp_path: Path) -> None:
    assert _problem(tmp_path / "gone.py") == (1, 0, "cannot be read: No such file or directory")


def test_a_folder_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.mkdir()

    assert _problem(path) == (1, 0, "is a folder, not a file")


def test_a_link_to_nothing_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.symlink_to("nothing")

    assert _problem(path) == (1, 0, "is a symbolic link to a file that does not exist")


def test_a_link_to_itself_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.symlink_to("x.py")

    assert _problem(path) == (1, 0, "cannot be read: Too many levels of symbolic links")


def test_a_named_pipe_is_a_problem_and_does_not_hang(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    os.mkfifo(path)

    assert _problem(path) == (1, 0, "is not a regular file")


def test_a_socket_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("x.py")

        assert _problem(Path("x.py")) == (1, 0, "cannot be read: No such device or address")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_a_problem(tmp_path: Path) -> None:
    path = _file(tmp_path, b"")
    path.chmod(0)

    assert _problem(path) == (1, 0, "cannot be read: Permission denied")


def test_a_problem_is_reported_as_cl000() -> None:
    finding = as_finding(Problem(Path("a/b.py"), 3, 4, "is binary"), "a/b.py")

    assert finding == Finding(
        "CL000", "unreadable-file", (), "is binary", "a/b.py", Span(3, 4, 3, 5)
    )
