"""Code of a notebook cell without what only IPython understands, line for line."""

# What IPython takes for its own: `IPython/core/inputtransformer2.py` in ipython/ipython.

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Sequence

from capturelint.source import split_lines

# Cell magics whose body is Python that runs in the notebook itself.
_PYTHON_BODIES = frozenset({"capture", "prun", "time", "timeit"})
_CELL_MAGIC = re.compile(r"%%(\w*)")
_LINE_MAGIC = re.compile(
    r"\s*(?:[%!?]"  # %time, !pip, ?name
    r"|[%\w.*]+\?{1,2}\s*$"  # name?, name??
    r"|[\w., \[\]]+=\s*[%!])"  # files = !ls, t = %timeit -o f()
)
_TOKEN = re.compile(r"#.*|\"\"\"|'''|\"(?:\\.|[^\"\\])*\"?|'(?:\\.|[^'\\])*'?|[()\[\]{}]")


def without_magics(source: str) -> tuple[str, ...]:
    """Return the lines of a cell; magics, shell commands and questions become blanks or `pass`."""
    lines = split_lines(source)
    first = next((number for number, line in enumerate(lines) if line.strip()), 0)
    magic = _CELL_MAGIC.match(lines[first])
    if magic is not None:
        if magic[1] not in _PYTHON_BODIES:
            return ("",) * len(lines)
        lines = ("",) * (first + 1) + lines[first + 1 :]
    return lines if _is_python(lines) else _plain(lines)


def _is_python(lines: Sequence[str]) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


def _plain(lines: Sequence[str]) -> tuple[str, ...]:
    """Return lines where each statement of IPython's own is a `pass`, its further lines blank."""
    shown: list[str] = []
    reader = _Reader()
    is_magic = False
    for line in lines:
        if is_magic and shown and lines[len(shown) - 1].endswith("\\"):
            shown.append("")
            continue
        is_magic = reader.is_at_statement and _LINE_MAGIC.match(line) is not None
        if is_magic:
            shown.append(f"{line[: len(line) - len(line.lstrip())]}pass")
        else:
            reader.read(line)
            shown.append(line)
    return tuple(shown)


class _Reader:
    """Follows brackets, long strings and joined lines, to know where a statement can begin."""

    def __init__(self) -> None:
        self._quote = ""
        self._depth = 0
        self._is_joined = False

    @property
    def is_at_statement(self) -> bool:
        return not (self._quote or self._depth or self._is_joined)

    def read(self, line: str) -> None:
        at = 0
        if self._quote:
            at = self._after_quote(line, 0)
        while not self._quote:
            token = _TOKEN.search(line, at)
            if token is None:
                break
            at = token.end()
            if token[0] in ('"""', "'''"):
                self._quote = token[0]
                at = self._after_quote(line, at)
            elif token[0] in "([{":
                self._depth += 1
            elif token[0] in ")]}":
                self._depth = max(self._depth - 1, 0)
        self._is_joined = line.endswith("\\") and "#" not in line[at:]

    def _after_quote(self, line: str, at: int) -> int:
        """Return where a long string ends, and forget it; the end of the line while it goes on."""
        end = re.compile(rf"(?:\\.|[^\\])*?{self._quote}").match(line, at)
        if end is None:
            return len(line)
        self._quote = ""
        return end.end()
