"""Findings that are known and accepted for now, kept in a file beside the project."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from capturelint.errors import CapturelintError
from capturelint.finding import Finding
from capturelint.lint.fingerprint import normalised

_VERSION = 1
# That a file was not checked, or that we failed, is nothing to get used to.
_NEVER = frozenset({"CL000", "CL001"})
_MAY_LACK = ("evidence",)  # is written only where there is some


class BaselineError(CapturelintError):
    """A baseline file is missing, broken or of another version."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"baseline {path} {problem}; `--write-baseline {path}` writes a new one")


@dataclass(frozen=True, slots=True)
class Entry:
    """One known finding. `path` is relative to the folder of the file, with forward slashes.

    `line` is the source line, `reported` the part of it that the finding marks. `evidence`: how a run
    refuted it, or "".
    """

    path: str
    code: str
    function: str
    line: str
    reported: str
    evidence: str = ""

    def by_line(self) -> tuple[str, ...]:
        """Return what the finding is known by while its line stays as it is."""
        return (self.path, self.code, self.function, normalised(self.line))

    def by_part(self) -> tuple[str, ...]:
        """Return what it is known by after a formatter broke or joined the line."""
        return (self.path, self.code, self.function, normalised(self.reported))


@dataclass(frozen=True, slots=True)
class Compared:
    """Findings held against a baseline: those not in it, and entries that nothing matches."""

    new: tuple[Finding, ...]
    gone: tuple[Entry, ...]


def load(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a baseline file. Raises `BaselineError`."""
    try:
        document = json.loads(path.read_bytes())
    except FileNotFoundError as error:
        raise BaselineError(path, "is not there") from error
    except OSError as error:
        raise BaselineError(path, f"cannot be read: {error.strerror}") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise BaselineError(path, f"is not valid JSON: {error.msg} at {where}") from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise BaselineError(path, "is not valid JSON") from error
    if not isinstance(document, dict) or "capturelint_baseline" not in document:
        raise BaselineError(path, "is no baseline of capturelint")
    version = document["capturelint_baseline"]
    if version != _VERSION:
        raise BaselineError(path, f"is of version {version!r}; this capturelint reads {_VERSION}")
    return tuple(_entries(document.get("findings"), path))


def entries_at(path: Path) -> tuple[Entry, ...]:
    """Return the entries of a file that is to be written anew: none where it holds no baseline."""
    try:
        return load(path)
    except BaselineError:
        return ()


def text_of(findings: Iterable[Finding], folder: Path, old: Sequence[Entry] = ()) -> str:
    """Return the text of a baseline file in `folder` that holds all findings it may hold.

    `old`: entries of the file that it replaces, of which evidence is kept.
    """
    entries = _recorded(findings, folder)[1]
    evidence: dict[tuple[str, ...], list[str]] = {}
    for entry in old:
        evidence.setdefault(entry.by_line(), []).append(entry.evidence)
    return _text(
        replace(entry, evidence=left.pop(0) if left else "")
        for entry in entries
        for left in [evidence.get(entry.by_line(), [])]
    )


def text_with(refuted: Mapping[Finding, str], folder: Path, old: Sequence[Entry]) -> str:
    """Return the text of a baseline file in `folder` with findings that a run refuted, and how.

    `old`: the entries that it has; those that stand for one of `refuted` are given the evidence.
    """
    findings = list(refuted)
    holders, entries = _recorded(findings, folder)
    new = [
        replace(entry, evidence=refuted[findings[number]])
        for number, entry in zip(holders, entries, strict=True)
    ]
    left = list(old)
    for entry in new:
        same = [one for one in left if one.by_line() == entry.by_line()]
        left = [one for one in left if not same or one is not same[0]]
    return _text([*left, *new])


def _text(entries: Iterable[Entry]) -> str:
    documents = [
        {
            field.name: getattr(entry, field.name)
            for field in fields(Entry)
            if field.name not in _MAY_LACK or getattr(entry, field.name)
        }
        for entry in entries
    ]
    return json.dumps({"capturelint_baseline": _VERSION, "findings": documents}, indent=2)


def compare(findings: Sequence[Finding], known: Sequence[Entry], folder: Path) -> Compared:
    """Return the findings that no entry of a baseline in `folder` stands for, and what is left of it.

    Each entry stands for one finding: of two equal lines in a function, a third is new.
    """
    holders, entries = _recorded(findings, folder)
    left = dict(zip(holders, entries, strict=True))
    unused = list(known)
    for identity in (Entry.by_line, Entry.by_part):
        left, unused = _unmatched(left, unused, identity)
    recorded = set(holders)
    new = (one for number, one in enumerate(findings) if number not in recorded or number in left)
    return Compared(tuple(new), tuple(unused))


def _unmatched(
    found: dict[int, Entry], known: list[Entry], identity: Callable[[Entry], tuple[str, ...]]
) -> tuple[dict[int, Entry], list[Entry]]:
    """Return what is left when findings, in their order, and entries of one identity are paired."""
    budget = Counter(map(identity, known))
    left: dict[int, Entry] = {}
    used: Counter[tuple[str, ...]] = Counter()
    for number, entry in found.items():
        key = identity(entry)
        if used[key] < budget[key]:
            used[key] += 1
        else:
            left[number] = entry
    unused = []
    for entry in known:
        key = identity(entry)
        if used[key]:
            used[key] -= 1
        else:
            unused.append(entry)
    return left, unused


def _recorded(findings: Iterable[Finding], folder: Path) -> tuple[list[int], list[Entry]]:
    """Return the positions of the findings that a baseline may hold, and their entries."""
    shown: dict[str, str] = {}
    top = os.path.realpath(folder)
    numbers: list[int] = []
    entries: list[Entry] = []
    for number, finding in enumerate(findings):
        if finding.code in _NEVER:
            continue
        if finding.path not in shown:
            relative = os.path.relpath(os.path.realpath(finding.path), top)
            shown[finding.path] = relative.replace(os.sep, "/")
        numbers.append(number)
        entries.append(_entry(finding, shown[finding.path]))
    return numbers, entries


def _entry(finding: Finding, path: str) -> Entry:
    span = finding.span
    end = span.end_column if span.end_line == span.line else None
    reported = finding.source[span.column : end].strip()
    return Entry(path, finding.code, finding.function, finding.source.strip(), reported)


def _entries(listed: object, path: Path) -> Iterable[Entry]:
    if not isinstance(listed, list):
        raise BaselineError(path, "is broken: `findings` is no list")
    for number, item in enumerate(listed, start=1):
        values = item if isinstance(item, dict) else {}
        texts = [
            values.get(field.name, "" if field.name in _MAY_LACK else None)
            for field in fields(Entry)
        ]
        given = [text for text in texts if isinstance(text, str)]
        if len(given) != len(texts):
            raise BaselineError(path, f"is broken: finding {number} lacks a text")
        yield Entry(*given)
