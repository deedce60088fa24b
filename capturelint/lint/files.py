"""Source files: their text and syntax tree, or what keeps them from being read.

`capturelint.lint.discovery` finds them.
"""

from __future__ import annotations

import ast
import io
import os
import re
import stat
import sys
import tokenize
import warnings
from pathlib import Path
from typing import NoReturn

from capturelint.finding import Finding, Span
from capturelint.lint.discovery import Problem, discover
from capturelint.lint.notebook import BrokenNotebookError, is_notebook, module_text

__all__ = [
    "SIZE_LIMIT",
    "Problem",
    "UnreadableFileError",
    "as_finding",
    "decode",
    "discover",
    "parse",
    "read_data",
]

SIZE_LIMIT = 4 * 1024 * 1024
# Notebooks hold images; their code is held to the other limit.
_NOTEBOOK_LIMIT = 64 * 1024 * 1024
_DEPTH_LIMIT = 1000
_LONG_LINE = 3000
_MANY_BRANCHES = 500
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=]", re.MULTILINE)


class UnreadableFileError(Exception):
    """A file cannot be read or parsed."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.path}:{problem.line}: {problem.message}")
        self.problem = problem


def as_finding(problem: Problem, path: str) -> Finding:
    """Return a problem as a finding. `path` is as printed."""
    span = Span(problem.line, problem.column, problem.line, problem.column + 1)
    return Finding("CL000", "unreadable-file", (), problem.message, path, span)


def read_data(path: Path) -> tuple[bytes, os.stat_result]:
    """Return the bytes of a file, and its status when they were read.

    Raises `UnreadableFileError`. Never waits, not even for a named pipe.
    """
    try:
        return _read_bytes(path)
    except OSError as error:
        _fail(path, _why_not_read(path, error))


def decode(data: bytes, path: Path) -> str:
    """Return the text of `data`, which came from `path`, by the rules of Python source files.

    Of a notebook that is the code of its cells. Raises `UnreadableFileError` if it is too long,
    binary, not in its declared encoding or no notebook in spite of its name.
    """
    if is_notebook(path.name):
        return _notebook_text(data, path)
    if len(data) > SIZE_LIMIT:
        _fail(path, _too_long(len(data)))
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        _fail(path, "is UTF-16; Python source must be UTF-8 or declare its encoding")
    null = data.find(0)
    if null >= 0:
        line, column = _place(data, null)
        _fail(path, "is binary: it contains a null byte", line=line, column=column)
    encoding = _encoding(data, path)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line, column = _place(data, error.start)
        message = f"is not valid {encoding}: {error.reason}; declare its encoding in line 1"
        _fail(path, message, line=line, column=column)
    except LookupError:
        _fail(path, f"declares {encoding!r}, which is no encoding of text")
    except ValueError:
        _fail(path, f"is not valid {encoding}")


def parse(text: str, path: Path) -> ast.Module:
    """Return the syntax tree of `text`. Raises `UnreadableFileError`."""
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    try:
        with warnings.catch_warnings():
            # An invalid escape in checked code is no concern of whoever runs the check.
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except SyntaxError as error:
        column = max((error.offset or 1) - 1, 0)
        message = f"not valid for {version}: {error.msg}"
        _fail(path, message, line=max(error.lineno or 1, 1), column=column)
    except (RecursionError, MemoryError):
        _fail(path, "is nested too deeply to be checked")
    except ValueError as error:
        _fail(path, f"not valid for {version}: {error}")
    if _may_be_deep(text) and _is_deep(tree):
        _fail(path, "is nested too deeply to be checked")
    return tree


def _read_bytes(path: Path) -> tuple[bytes, os.stat_result]:
    # Opening a named pipe without O_NONBLOCK waits for a writer. Windows has no such flag.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            _fail(path, "is a folder, not a file")
        if not stat.S_ISREG(status.st_mode):
            _fail(path, "is not a regular file")
        if status.st_size > SIZE_LIMIT:
            limit = _NOTEBOOK_LIMIT if is_notebook(path.name) else SIZE_LIMIT
            if status.st_size > limit:
                _fail(path, _too_long(status.st_size, limit))
        return _all_of(handle, status.st_size), status
    finally:
        os.close(handle)


def _all_of(handle: int, size: int) -> bytes:
    """Return all that an open file holds. `size`: how much that should be."""
    # A file object takes three more calls of the system.
    data = os.read(handle, size + 1)
    if len(data) == size:
        return data
    parts = [data]
    while parts[-1]:
        parts.append(os.read(handle, size + 1))
    return b"".join(parts)


def _notebook_text(data: bytes, path: Path) -> str:
    try:
        text = module_text(data)
    except BrokenNotebookError as error:
        _fail(path, error.message, line=error.line, column=error.column)
    if len(text) > SIZE_LIMIT:
        _fail(path, _too_long(len(text)))
    return text


def _why_not_read(path: Path, error: OSError) -> str:
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return "is a symbolic link to a file that does not exist"
    return f"cannot be read: {error.strerror}"


def _too_long(size: int, limit: int = SIZE_LIMIT) -> str:
    return f"is {size / 2**20:.1f} MiB long; files over {limit // 2**20} MiB are not checked"


def _encoding(data: bytes, path: Path) -> str:
    """Return the encoding that a byte order mark or a coding comment declares, else UTF-8."""
    head = data[: _end_of_line(data, _end_of_line(data, 0))]
    if not head.startswith(b"\xef\xbb\xbf") and not _COOKIE.search(head):
        return "utf-8"
    try:
        return tokenize.detect_encoding(io.BytesIO(head).readline)[0]
    except SyntaxError as error:
        _fail(path, f"has a bad encoding declaration: {error.msg}")


def _end_of_line(data: bytes, start: int) -> int:
    end = data.find(b"\n", start)
    return len(data) if end < 0 else end + 1


def _place(data: bytes, offset: int) -> tuple[int, int]:
    """Return line, from 1, and column, from 0, of a byte."""
    before = data[:offset].decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    return before.count("\n") + 1, len(before) - before.rfind("\n") - 1


def _may_be_deep(text: str) -> bool:
    """Return whether measuring the depth of the tree is worth its price, which is high."""
    if text.count("elif ") > _MANY_BRANCHES:
        return True
    start = 0
    while len(text) - start > _LONG_LINE:
        end = text.rfind("\n", start, start + _LONG_LINE)
        if end < 0:
            return True
        start = end + 1
    return False


def _is_deep(tree: ast.Module) -> bool:
    """Return whether a tree is too deep for code that walks it by calling itself."""
    level: list[ast.AST] = [tree]
    for _ in range(_DEPTH_LIMIT):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            return False
    return True


def _fail(path: Path, message: str, *, line: int = 1, column: int = 0) -> NoReturn:
    raise UnreadableFileError(Problem(path, line, column, message)) from None
