"""Findings as `check --format json` and `--format sarif` wrote them, read back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from capturelint.errors import CapturelintError
from capturelint.finding import Effect, Finding, Span

_EFFECTS = {effect.value: effect for effect in Effect}
_LARGEST = 1 << 31
_CODE = re.compile(r"CL\d{3}")


class FindingsError(CapturelintError):
    """A file of findings is missing, broken or something else."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"findings {path} {problem}; `capturelint check --format json --output {path}` writes them"
        )


def findings_in(path: Path) -> tuple[Finding, ...]:
    """Return the findings that a file holds, JSON or SARIF. Raises `FindingsError`.

    Chains and fixes are not among what is read.
    """
    document = _document(path)
    if "runs" in document:
        found = list(_in_sarif(document, path))
    elif isinstance(document.get("findings"), list) and "culprits" not in document:
        found = [(one, "findings") for one in document["findings"]]
    else:
        what = "is a report of `bisect`" if "culprits" in document else "holds no findings of check"
        raise FindingsError(path, what)
    return tuple(
        _finding(one, path, f"{where}[{number}]") for number, (one, where) in enumerate(found)
    )


def _document(path: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise FindingsError(path, "is not there") from error
    except OSError as error:
        raise FindingsError(path, f"cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise FindingsError(path, f"is not valid JSON: {error.msg} at {where}") from error
    except (ValueError, RecursionError) as error:
        raise FindingsError(path, "is not valid JSON") from error
    if not isinstance(document, dict):
        raise FindingsError(path, "holds no findings of check")
    return document


def _in_sarif(document: Mapping[str, Any], path: Path) -> Iterator[tuple[object, str]]:
    """Yield the results of our runs in the form of our JSON. Raises `FindingsError`."""
    runs = document["runs"] if isinstance(document["runs"], list) else []
    ours = [run for run in runs if _at(run, "tool", "driver", "name") == "capturelint"]
    if not ours:
        raise FindingsError(path, "is SARIF without a run of capturelint")
    for run in ours:
        results = run.get("results")
        for result in results if isinstance(results, list) else ():
            place = _at(result, "locations", 0, "physicalLocation")
            region = _at(place, "region") or {}
            if region:
                region = {"endLine": region.get("startLine"), "endColumn": 0, **region}
            yield (
                {
                    "code": _at(result, "ruleId"),
                    "name": _name(run, result),
                    "effect": _at(result, "properties", "effect"),
                    "message": _at(result, "message", "text"),
                    "path": _path(_at(place, "artifactLocation", "uri")),
                    "function": _at(
                        result, "locations", 0, "logicalLocations", 0, "fullyQualifiedName"
                    )
                    or "",
                    "source": _at(result, "properties", "source"),
                    # Only the lines of a notebook's cell have no region.
                    "cell": None if region else 0,
                    "line": region.get("startLine", 1),
                    "column": region.get("startColumn", 1),
                    "end_line": region.get("endLine", 1),
                    "end_column": region.get("endColumn", 1),
                },
                "results",
            )


def _name(run: Mapping[str, Any], result: object) -> object:
    return _at(run, "tool", "driver", "rules", _at(result, "ruleIndex"), "name") or ""


def _path(uri: object) -> object:
    if not isinstance(uri, str):
        return None
    parts = urlsplit(uri)
    return url2pathname(parts.path) if parts.scheme == "file" else unquote(uri)


def _at(value: object, *keys: object) -> Any:
    """Return what is found by these keys and indices one inside the other; None if nothing is."""
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list) and isinstance(key, int) and 0 <= key < len(value):
            value = value[key]
        else:
            return None
    return value


def _finding(value: object, path: Path, where: str) -> Finding:
    """Return one finding. Raises `FindingsError` where something is missing."""
    item = value if isinstance(value, dict) else {}
    if "code" in item and item.get("source") is None:
        raise FindingsError(path, f"is of an older capturelint: {where} has no `source`")

    def text(key: str) -> str:
        if not isinstance(item.get(key), str):
            raise FindingsError(path, f"is broken: {where} has no text `{key}`")
        return str(item[key])

    def number(key: str) -> int:
        found = item.get(key)
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found < _LARGEST:
            raise FindingsError(path, f"is broken: {where} has no number `{key}`")
        return found

    if not _CODE.fullmatch(text("code")):
        raise FindingsError(path, f"is broken: `code` of {where} is none of a rule")
    effects = item.get("effect")
    if not isinstance(effects, list) or not all(one in _EFFECTS for one in map(str, effects)):
        raise FindingsError(path, f"is broken: `effect` of {where} is none that is known")
    return Finding(
        code=text("code"),
        name=text("name"),
        effects=tuple(_EFFECTS[str(one)] for one in effects),
        message=text("message"),
        path=text("path"),
        span=Span(
            number("line"), number("column") - 1, number("end_line"), number("end_column") - 1
        ),
        function=text("function"),
        source=text("source"),
        cell=None if item.get("cell") is None else number("cell"),
        if_captured=item.get("if_captured") is True,
    )
