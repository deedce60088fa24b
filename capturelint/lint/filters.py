"""Findings that neither the configuration nor a comment accepts."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Collection, Mapping, Sequence

from capturelint.config import Config
from capturelint.finding import Finding
from capturelint.lint import suppress
from capturelint.lint.linked import Linked
from capturelint.lint.symbols import Function


def kept_of(
    found: list[Finding],
    linked: Linked,
    config: Config,
    active: frozenset[str],
    known: Mapping[str, str],
    *,
    looked_at: Collection[int],
    among: Collection[str] | None = None,
) -> list[Finding]:
    """Return findings that neither the configuration nor a comment accepts.

    `looked_at` are the functions in which something was looked for. `among`: the shown paths of the
    only files that findings are in and comments count of.
    """
    commented = [path for path in linked.commented() if among is None or path in among]
    by_path: dict[str, list[Finding]] = {path: [] for path in commented}
    for finding in found:
        by_path.setdefault(finding.path, []).append(finding)
    project = linked.project
    functions = {
        shown: project.functions_of(facts)
        for facts in project.files.values()
        if (shown := linked.shown(facts.path)) in by_path
    }
    kept: list[Finding] = []
    for path, group in by_path.items():
        left = group
        if path not in linked.unread:
            text = linked.text(path)
            left = linked.without_accepted(left, text)
            left = suppress.apply(
                left,
                text,
                path=path,
                require_reason=config.require_reason,
                active=active,
                known=known,
                passed_over=_Lines(functions.get(path, ()), looked_at).passed_over,
            )
        kept += [f for f in left if _is_asked_for(f, config)]
    return kept


class _Lines:
    """The lines of one file: which are in functions that this run looked at."""

    def __init__(self, functions: Sequence[Function], looked_at: Collection[int]) -> None:
        self._functions = functions
        self._looked_at = looked_at

    def passed_over(self, line: int) -> bool:
        """Return whether a line is in a function of which nothing was asked, such as one not captured."""
        around = [f for f in self._functions if f.facts.first_line <= line <= f.facts.end_line]
        if not around:
            return False
        return max(around, key=lambda f: f.facts.first_line).index not in self._looked_at


def _is_asked_for(finding: Finding, config: Config) -> bool:
    """Return whether the configuration wants a finding; a file that cannot be read is always said."""
    if finding.code == "CL000":
        return True
    return config.selects(finding.code) and not _is_ignored_for(finding, config)


def _is_ignored_for(finding: Finding, config: Config) -> bool:
    if not config.per_file_ignores:
        return False
    relative = os.path.relpath(finding.path, config.root).replace(os.sep, "/")
    return any(
        finding.code.startswith(codes) and _covers(pattern, relative)
        for pattern, codes in config.per_file_ignores
    )


def _covers(pattern: str, path: str) -> bool:
    """Return whether a pattern means a file, or a folder that it is in."""
    name = pattern.removeprefix("./").strip("/")
    # One that says where it starts does not match further down.
    starts = (name,) if pattern.startswith(("./", "/")) else (name, f"*/{name}")
    return any(
        fnmatch.fnmatchcase(path, start) or fnmatch.fnmatchcase(path, f"{start}/*")
        for start in starts
    )
