"""Jupyter notebooks: the code cells of one as the text of a module."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from capturelint.lint.magics import without_magics

SUFFIX = ".ipynb"
_MARK = "# %% cell {} of the notebook"
_MARKED = re.compile(r"# %% cell (\d+) of the notebook")
_OLDEST = 3


class BrokenNotebookError(Exception):
    """A file is no notebook that can be read. Lines count from 1, columns from 0."""

    def __init__(self, message: str, line: int = 1, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


def cell_of(line: str) -> int | None:
    """Return the number of the cell that begins below a line of a module's text, if one does."""
    mark = _MARKED.fullmatch(line)
    return None if mark is None else int(mark[1])


def is_notebook(path: str) -> bool:
    """Return whether a path is named as a notebook."""
    return path.lower().endswith(SUFFIX)


def module_text(data: bytes) -> str:
    """Return the code of a notebook's cells as one module, a comment before each that numbers it.

    A notebook in another language is an empty module. Raises `BrokenNotebookError`.
    """
    document = _document(data)
    if not _is_python(document):
        return ""
    lines: list[str] = []
    for number, cell in enumerate(_cells(document), start=1):
        if cell.get("cell_type") == "code":
            lines.append(_MARK.format(number))
            lines += map(_unmarked, without_magics(_source(cell, number)))
    return "\n".join([*lines, ""])


def _document(data: bytes) -> Mapping[str, object]:
    try:
        document = json.loads(data)
    except json.JSONDecodeError as error:
        text = f"is no notebook: not valid JSON: {error.msg}"
        raise BrokenNotebookError(text, error.lineno, error.colno - 1) from error
    except UnicodeDecodeError as error:
        raise BrokenNotebookError(f"is no notebook: not valid text: {error.reason}") from error
    except RecursionError as error:
        raise BrokenNotebookError("is no notebook: it is nested too deeply") from error
    if not isinstance(document, dict):
        raise BrokenNotebookError("is no notebook: it is not a JSON object")
    return document


def _is_python(document: Mapping[str, object]) -> bool:
    """Return whether the notebook is in Python, as it is where nothing is said."""
    metadata = document.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        table = metadata.get(key) if isinstance(metadata, dict) else None
        language = table.get(name) if isinstance(table, dict) else None
        if isinstance(language, str) and language:
            return "python" in language.lower()
    return True


def _cells(document: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    version = document.get("nbformat")
    if not isinstance(version, int):
        raise BrokenNotebookError("is no notebook: it has no `nbformat`")
    if version < _OLDEST:
        text = f"is a notebook of format {version}; formats 3 and 4 are read, so convert it"
        raise BrokenNotebookError(text)
    for sheet in _listed(document, "worksheets") if version == _OLDEST else (document,):
        yield from _listed(sheet, "cells")


def _listed(holder: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    values = holder.get(key)
    if not isinstance(values, list) or not all(isinstance(value, dict) for value in values):
        raise BrokenNotebookError(f"is no notebook: `{key}` is not a list of objects")
    return values


def _source(cell: Mapping[str, object], number: int) -> str:
    """Return the text of a code cell; format 3 calls it `input`."""
    source = cell.get("source", cell.get("input"))
    if isinstance(source, str):
        return source
    if isinstance(source, list):
        lines = [line for line in source if isinstance(line, str)]
        if len(lines) == len(source):
            return "".join(lines)
    raise BrokenNotebookError(f"is no notebook: cell {number} has no text")


def _unmarked(line: str) -> str:
    """Return a line that cannot be taken for one of our comments."""
    return f"{line} " if _MARKED.fullmatch(line) else line
