"""Findings that neither the configuration nor a comment accepts."""

from __future__ import annotations

import fnmatch
import os

from capturelint.config import Config
from capturelint.finding import Finding
from capturelint.lint import suppress
from capturelint.lint.linked import Linked


def kept_of(
    found: list[Finding],
    linked: Linked,
    config: Config,
    active: frozenset[str],
    known: frozenset[str],
) -> list[Finding]:
    """Return findings that neither the configuration nor a comment accepts."""
    by_path: dict[str, list[Finding]] = {path: [] for path in linked.commented()}
    for finding in found:
        by_path.setdefault(finding.path, []).append(finding)
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
            )
        kept += [f for f in left if _is_asked_for(f, config)]
    return kept


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
        finding.code.startswith(codes)
        and (
            fnmatch.fnmatchcase(relative, pattern) or fnmatch.fnmatchcase(relative, f"*/{pattern}")
        )
        for pattern, codes in config.per_file_ignores
    )
