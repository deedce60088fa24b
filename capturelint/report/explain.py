"""Which rule explains a line that a run found to blame: what `check` says of that line."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.config import Config, Scope
from capturelint.finding import Effect, Finding
from capturelint.verdict import Hazard

if TYPE_CHECKING:
    from capturelint.lint.registry import RuleEntry
    from capturelint.verdict import Culprit, Report

_ADVICE = re.compile(r"^## What to do instead\n\n(.+?)(?:\n\n|\Z)", re.DOTALL | re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=\.) (?=[A-Z`])")


@dataclass(frozen=True, slots=True)
class Explained:
    """A report whose culprits and hazards carry codes of loaded rules, or none.

    `advice`: by code, the first sentence of what the rule's page says to do.
    """

    report: Report
    advice: Mapping[str, str]


def explained(report: Report, rules: Sequence[RuleEntry]) -> Explained:
    """Return the report with the rule of each line: as `check` finds it, else as the run did."""
    advice = {entry.code: advice_of(entry.page) for entry in rules}
    told: list[Culprit | Hazard] = [*report.culprits, *report.hazards]
    paths = {one.place.path for one in told if one.place is not None}
    findings = {path: _findings(Path(path), rules) for path in sorted(paths) if path}

    def code(one: Culprit | Hazard) -> str:
        found = () if one.place is None else findings.get(one.place.path, ())
        chosen = _code(one, found) or _seen_code(one)
        return chosen if chosen in advice else ""

    report = replace(
        report,
        culprits=tuple(replace(one, code=code(one)) for one in report.culprits),
        hazards=tuple(replace(one, code=code(one)) for one in report.hazards),
    )
    return Explained(report, advice)


def advice_of(page: str) -> str:
    """Return the first sentence of what a rule's page says to do, on one line, or ""."""
    found = _ADVICE.search(page)
    if found is None:
        return ""
    return _SENTENCE_END.split(" ".join(found[1].split()), maxsplit=1)[0]


def _findings(path: Path, rules: Sequence[RuleEntry]) -> tuple[Finding, ...]:
    """Return what the rules find in one file, looked at alone.

    With the package around it, the check of one file of transformers took a minute; alone half a
    second. A line that only the package explains keeps the code that the run gave it.
    """
    from capturelint.lint import engine, files

    try:
        text = files.decode(files.read_data(path)[0], path)
    except files.UnreadableFileError:
        return ()
    # No file can be below this one, so nothing is imported from beside it.
    alone = Path(os.devnull) / path.name
    config = Config(root=path.parent, scope=Scope.ALL, preset=())
    return engine.check([], config, rules, stdin=(alone, text)).findings


def _code(told: Culprit | Hazard, findings: Iterable[Finding]) -> str:
    """Return the code of the finding that covers the line with the same effect.

    Of several, the one that the run also named decides.
    """
    line = 0 if told.place is None else told.place.line
    codes = [
        finding.code
        for finding in findings
        if finding.span.line <= line <= finding.span.end_line and told.effect in finding.effects
    ]
    if not codes or told.code in codes:
        return told.code
    is_sure = len(set(codes)) == 1 or not told.code
    return codes[0] if is_sure else told.code


def _seen_code(told: Culprit | Hazard) -> str:
    """Return the code of the rule that what a run saw fits, for a line that tells no rule, or ""."""
    if told.effect is Effect.REFUSES:
        return "CL802" if "capturable is False" in told.message else ""
    if isinstance(told, Hazard):
        return ""
    for frozen in told.evidence.frozen:
        # Only where the line to blame is the one that changes an attribute.
        if not frozen.name.startswith("self.") or frozen.cause != told.place:
            continue
        name = frozen.name.removeprefix("self.")
        kinds = {_kind(text) for text in told.evidence.changes if _names(text, name)}
        for kind, code in _BY_KIND.items():
            if kinds == {kind} and (kind != "number" or frozen.before.isdecimal()):
                return code
    return ""


_BY_KIND: Mapping[str, str] = {"rebound": "CL601", "grew": "CL505", "number": "CL501"}


def _names(change: str, name: str) -> bool:
    """Return whether a change in words is that of the attribute `name`, on whatever object."""
    path = change.partition(": ")[0]
    return path == name or path.endswith(f".{name}")


def _kind(change: str) -> str:
    return change.rpartition("(")[2].removesuffix(")")
