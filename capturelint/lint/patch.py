"""What a patch says: the lines that changed in each file, and the files that were renamed."""

# The format: https://git-scm.com/docs/diff-generate-patch

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HUNK = re.compile(rb"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {b"a": 7, b"b": 8, b"t": 9, b"n": 10, b"v": 11, b"f": 12, b"r": 13}

Lines = tuple[range, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    """What changed, by path as bytes of the file system. `renamed`: from new paths to old ones."""

    lines: dict[bytes, Lines]
    renamed: dict[bytes, bytes]


def read(text: bytes) -> Patch:
    """Return what a patch without context lines says. Paths must stand behind `a/` and `b/`."""
    ranges: dict[bytes, list[range]] = {}
    renamed: dict[bytes, bytes] = {}
    old = path = b""
    for line in _headers(text.split(b"\n")):
        if line.startswith(b"rename from "):
            old = _unquoted(line[len(b"rename from ") :])
        elif line.startswith(b"rename to "):
            renamed[_unquoted(line[len(b"rename to ") :])] = old
        elif line.startswith(b"+++ "):
            path = _unquoted(line[len(b"+++ ") :].removesuffix(b"\t")).removeprefix(b"b/")
        else:
            start, count = _added(line)
            ranges.setdefault(path, []).append(range(start, start + count))
    return Patch({path: tuple(found) for path, found in ranges.items()}, renamed)


def _headers(lines: Sequence[bytes]) -> Iterator[bytes]:
    """Yield the lines that name files and hunks, and no line of a file that looks like one."""
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        hunk = _HUNK.match(line)
        if hunk is not None:
            yield line
            at += int(hunk[1] or 1) + int(hunk[3] or 1)
        elif line.startswith((b"rename from ", b"rename to ", b"+++ ")):
            yield line


def _added(hunk: bytes) -> tuple[int, int]:
    """Return the first line and the number of lines that a hunk added."""
    match = _HUNK.match(hunk)
    assert match is not None, "only hunks are left"
    return int(match[2]), int(match[3] or 1)


def _unquoted(name: bytes) -> bytes:
    """Return a path that git may have put in quotes, as a string of C."""
    if not (name.startswith(b'"') and name.endswith(b'"') and len(name) > 1):
        return name
    return _ESCAPE.sub(lambda match: _character(match[1]), name[1:-1])


def _character(escape: bytes) -> bytes:
    if escape.isdigit():
        return bytes([int(escape, 8)])
    return bytes([_LETTERS[escape]]) if escape in _LETTERS else escape
