"""Apply fixes and look again until nothing is left to apply; keep only what brings nothing new."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from capturelint.finding import Finding, Fix
from capturelint.rewrite.compose import applied, compatible
from capturelint.rewrite.form import Grade

# Each round makes at least one fix in a file; fixes inside of fixes are rarely nested deeper.
_MOST_ROUNDS = 10

# Gives the findings of the whole run, were the files with these paths to hold these texts.
Look = Callable[[Mapping[str, str]], Sequence[Finding]]


@dataclass(slots=True)
class Rewritten:
    """Files as they would be. `texts` are by shown path; `fixes` counts what was made in each.

    `kept` are files with fixes that were not made, because they would bring new findings.
    """

    texts: dict[str, str] = field(default_factory=dict)
    fixes: Counter[str] = field(default_factory=Counter)
    kept: set[str] = field(default_factory=set)

    def keep(self, paths: Iterable[str]) -> None:
        """Make no more fixes in these files."""
        self.kept.update(paths)


def rewritten(
    findings: Sequence[Finding],
    grades: frozenset[Grade],
    text_of: Callable[[str], str | None],
    look: Look,
) -> Rewritten:
    """Return all files with fixes of these grades made, each fix held against a second look.

    `text_of` returns what a file held when it was checked, None for one that must not be changed.
    """
    done = Rewritten()
    for _ in range(_MOST_ROUNDS):
        tried = _tried(findings, grades, text_of, done)
        done.keep(path for path, (text, _) in tried.items() if not _is_valid(text))
        while True:
            tried = {path: new for path, new in tried.items() if path not in done.kept}
            if not tried:
                return done
            after = look({**done.texts, **{path: text for path, (text, _) in tried.items()}})
            worse = _worse(after, findings, tried)
            if not worse:
                break
            done.keep(worse)
        for path, (text, number) in tried.items():
            done.texts[path] = text
            done.fixes[path] += number
        findings = after
    return done


def _tried(
    findings: Sequence[Finding],
    grades: frozenset[Grade],
    text_of: Callable[[str], str | None],
    done: Rewritten,
) -> dict[str, tuple[str, int]]:
    """Return files with one round of fixes made, and how many."""
    tried: dict[str, tuple[str, int]] = {}
    for path, fixes in _by_path(findings, grades).items():
        text = done.texts[path] if path in done.texts else text_of(path)
        if text is not None and path not in done.kept:
            chosen = compatible(fixes)
            tried[path] = applied(text, chosen), len(chosen)
    return tried


def _by_path(findings: Iterable[Finding], grades: frozenset[Grade]) -> dict[str, list[Fix]]:
    found: dict[str, list[Fix]] = {}
    for finding in findings:
        if finding.fix is not None and finding.cell is None and Grade(finding.fix.grade) in grades:
            found.setdefault(finding.path, []).append(finding.fix)
    return found


def _worse(after: Iterable[Finding], before: Iterable[Finding], paths: Iterable[str]) -> list[str]:
    """Return the files that have as many findings as they had, or more of some code."""
    now, then = (Counter((one.path, one.code) for one in found) for found in (after, before))
    worse = {path for (path, code), number in now.items() if number > then[path, code]}
    left, had = (Counter(one.path for one in found) for found in (after, before))
    return [path for path in paths if path in worse or left[path] >= had[path]]


def _is_valid(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
