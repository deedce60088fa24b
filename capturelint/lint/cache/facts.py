"""Facts of a file as JSON, in two parts: what is said in it, and on which lines.

A file whose code no finding rests on may move its lines: only the first part counts then.
"""

from __future__ import annotations

import json
from dataclasses import fields
from operator import attrgetter
from pathlib import Path
from sys import intern
from typing import Any

from capturelint.lint.discovery import Problem
from capturelint.names import ClassFacts, FileFacts, FunctionFacts

Named = tuple[Path, str, bool]

_dumps = json.JSONEncoder(separators=(",", ":")).encode


def encode(result: FileFacts | Problem) -> tuple[str, str]:
    """Return what a file says and its lines, each as JSON. Both are all ASCII."""
    if isinstance(result, Problem):
        return _dumps([result.message]), _dumps([result.line, result.column])
    said = [_said_of(getattr(result, name)) for name in _FILE]
    lines = [
        [_function_lines(one) for one in result.functions],
        [_class_lines(one) for one in result.classes],
    ]
    return _dumps(said), _dumps(lines)


# What was read back is sealed, so it is what `encode` made; the types are not proven again.
def decode(named: Named, said: Any, lines: Any) -> FileFacts | Problem:
    """Return what `encode` was given, from its two parts after they were read as JSON."""
    path, module, is_package = named
    if len(said) == 1:
        return Problem(path, lines[0], lines[1], said[0])
    given = dict(zip(_FILE, map(_value, said), strict=True))
    given["imports"] = {intern(k): _value(v) for k, v in given["imports"].items()}
    for key, kind, words, places, rows in (
        ("functions", FunctionFacts, _FUNCTION, _FUNCTION_LINES, lines[0]),
        ("classes", ClassFacts, _CLASS, _CLASS_LINES, lines[1]),
    ):
        given[key] = tuple(
            kind(
                **dict(zip(words, map(_value, row), strict=True)),
                **dict(zip(places, place, strict=True)),
            )
            for row, place in zip(given[key], rows, strict=True)
        )
    return FileFacts(path=str(path), module=module, is_package=is_package, **given)


def _said_of(value: object) -> object:
    """Return what is said in one field of a file's facts, without lines."""
    if isinstance(value, tuple):
        return [
            _function_words(one)
            if isinstance(one, FunctionFacts)
            else _class_words(one)
            if isinstance(one, ClassFacts)
            else one
            for one in value
        ]
    return value


def _value(value: Any) -> Any:
    """Return a value as facts hold it: lists are tuples in them, a name said twice is one string."""
    if isinstance(value, list):
        return tuple([intern(one) if isinstance(one, str) else one for one in value])
    return intern(value) if isinstance(value, str) else value


def _names(facts: type, besides: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(facts) if field.name not in besides)


_FUNCTION_LINES = ("first_line", "line", "end_line", "column")
_CLASS_LINES = ("line", "end_line")
_FILE = _names(FileFacts, ("path", "module", "is_package"))
_FUNCTION = _names(FunctionFacts, _FUNCTION_LINES)
_CLASS = _names(ClassFacts, _CLASS_LINES)
_function_words, _function_lines = attrgetter(*_FUNCTION), attrgetter(*_FUNCTION_LINES)
_class_words, _class_lines = attrgetter(*_CLASS), attrgetter(*_CLASS_LINES)
