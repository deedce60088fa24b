"""How often each rule was broken, with which effects and in which files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeVar

from capturelint.report.place import one_line

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult

_MOST_FILES = 20
_Word = TypeVar("_Word", str, tuple[str, str])


def render(result: CheckResult) -> str:
    """Return counts by code, by effect and by file, the most frequent first; "" for no finding.

    A finding with two effects counts under both. Of many files the first 20 are shown.
    """
    codes = _ranked((finding.code, finding.name) for finding in result.findings)
    effects = _ranked(effect.value for finding in result.findings for effect in finding.effects)
    files = _ranked(finding.path for finding in result.findings)
    width = max((len(str(count)) for _, count in (*codes, *effects, *files)), default=0)
    lines = [f"{count:>{width}}  {code}  {name}" for (code, name), count in codes]
    lines += [f"{count:>{width}}  {effect}" for effect, count in effects]
    lines += [f"{count:>{width}}  {one_line(path)}" for path, count in files[:_MOST_FILES]]
    if len(files) > _MOST_FILES:
        rest = sum(count for _, count in files[_MOST_FILES:])
        lines.append(f"{rest:>{width}}  in {len(files) - _MOST_FILES} more files")
    return "\n".join(lines)


def document(result: CheckResult) -> dict[str, object]:
    """Return the counts for JSON, in the same order and of all files."""
    codes = _ranked((finding.code, finding.name) for finding in result.findings)
    effects = _ranked(effect.value for finding in result.findings for effect in finding.effects)
    files = _ranked(finding.path for finding in result.findings)
    return {
        "codes": [{"code": code, "name": name, "count": n} for (code, name), n in codes],
        "effects": [{"effect": effect, "count": n} for effect, n in effects],
        "files": [{"path": path, "count": n} for path, n in files],
    }


def _ranked(words: Iterable[_Word]) -> list[tuple[_Word, int]]:
    return sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
