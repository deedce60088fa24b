"""What a run found, as JSON values and back."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from capturelint.finding import Edit, Effect, Finding, Fix, Span, Step
from capturelint.lint.result import CheckResult
from capturelint.lint.said import Said, Section


def as_json(value: object) -> object:
    """Return a result, or a part of one, as values that JSON has; of an object its fields in order."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, tuple):
        return [as_json(one) for one in value]
    if is_dataclass(value):
        return [as_json(getattr(value, field.name)) for field in fields(value)]
    return value


# What was read back is sealed, so it is what `as_json` made; the types are not proven again.
def from_json(values: Any) -> CheckResult:
    """Return the result that `as_json` was given."""
    given = _named(CheckResult, values)
    given["findings"] = tuple(_finding(one) for one in given["findings"])
    return CheckResult(**given)


def said_as_text(said: Iterable[Said]) -> str:
    """Return what was said of functions as JSON text."""
    return json.dumps([as_json(one) for one in said], separators=(",", ":"))


def said_from_text(text: str) -> list[Said]:
    """Return what `said_as_text` was given."""
    return [
        Said(Section(section), function, _finding(finding))
        for section, function, finding in json.loads(text)
    ]


def _finding(values: Any) -> Finding:
    given = _named(Finding, values)
    given["effects"] = tuple(Effect(effect) for effect in given["effects"])
    given["span"] = Span(*given["span"])
    given["chain"] = tuple(Step(*step) for step in given["chain"])
    if given["fix"] is not None:
        grade, edits = given["fix"]
        given["fix"] = Fix(grade, tuple(Edit(Span(*place), text) for place, text in edits))
    return Finding(**given)


def _named(kind: type, values: Any) -> dict[str, Any]:
    """Return the fields of an object by name; lists are tuples in it."""
    names = (field.name for field in fields(kind))
    given = (tuple(value) if isinstance(value, list) else value for value in values)
    return dict(zip(names, given, strict=True))
