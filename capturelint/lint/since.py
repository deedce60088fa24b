"""Which findings are due to what changed since a revision: on a changed line, or not there before."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from capturelint.finding import Finding
from capturelint.lint.fingerprint import normalised
from capturelint.lint.patch import Lines
from capturelint.lint.repository import GitError, Repository

# Of a file that changed it is news that it was not checked, wherever in it the reason stands.
_UNREAD = "CL000"
_FAILED = "CL001"


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since a revision. Paths are relative to the top of the repository.

    `lines` of files that are in the revision; `fresh` are files that are not, `tracked` all that
    git tracks; `renamed` leads from new paths to old ones.
    """

    lines: Mapping[str, Lines]
    fresh: frozenset[str]
    tracked: frozenset[str]
    renamed: Mapping[str, str]

    def is_empty(self) -> bool:
        """Return whether nothing changed that a check could see."""
        return not (self.lines or self.fresh or self.renamed)

    def knows(self, path: str) -> bool:
        """Return whether git tracks a file, or would if it were asked to."""
        return path in self.tracked or path in self.fresh

    def has_line(self, finding: Finding, path: str) -> bool:
        """Return whether a line of a finding changed. Of a notebook lines are not compared."""
        if path in self.fresh or finding.code == _FAILED:
            return True
        found = self.lines.get(path, ())
        if finding.code == _UNREAD:
            return bool(found)
        first, last = finding.span.line, finding.span.end_line
        return finding.cell is None and any(
            lines.start <= last and first < lines.stop for lines in found
        )


@dataclass(frozen=True, slots=True)
class Due:
    """Findings that are due to a change, in order; of `distant` ones the own line is as it was."""

    findings: tuple[Finding, ...]
    distant: frozenset[Finding]


def changes_since(repository: Repository, commit: str) -> Changes:
    """Return what changed since a commit, submodules included. Raises `GitError`."""
    patch = repository.changed(commit)
    lines = {os.fsdecode(path): found for path, found in patch.lines.items()}
    renamed = {os.fsdecode(new): os.fsdecode(old) for new, old in patch.renamed.items()}
    fresh = set(repository.untracked())
    tracked = set(repository.tracked())
    commits = repository.links(commit)
    for path, inner in repository.submodules():
        if path in commits:
            below = changes_since(inner, inner.commit(commits[path]))
            lines.update((f"{path}/{name}", found) for name, found in below.lines.items())
            renamed.update((f"{path}/{n}", f"{path}/{o}") for n, o in below.renamed.items())
            fresh.update(f"{path}/{name}" for name in below.fresh)
            tracked.update(f"{path}/{name}" for name in below.tracked)
        else:
            names = [*inner.tracked(), *inner.untracked()]
            fresh.update(f"{path}/{name}" for name in names)
    return Changes(lines, frozenset(fresh), frozenset(tracked), renamed)


def write_revision(repository: Repository, commit: str, folder: Path) -> None:
    """Write what a check can read of a commit and of its submodules below a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    # A project's own folder ends the names of its modules, and git's folder marks it.
    (folder / ".git").touch()
    repository.write_files(commit, folder)
    commits = repository.links(commit)
    for path, inner in repository.submodules():
        if path in commits:
            write_revision(inner, inner.commit(commits[path]), folder / path)


def check_inside(paths: Iterable[Path], top: Path) -> None:
    """Raise `GitError` for a path outside the repository at `top`."""
    for path in paths:
        if relative(path, top) is None:
            raise GitError(
                f"{path} is outside the git repository {top}; check it without the option"
            )


def old_paths(paths: Iterable[Path], changes: Changes, *, top: Path, folder: Path) -> list[Path]:
    """Return where, below `folder`, the files under `paths` were before the change."""
    found: dict[Path, None] = {}
    for path in paths:
        here = relative(path, top)
        assert here is not None, "paths outside were refused"
        renamed = [
            old
            for new, old in changes.renamed.items()
            if here in (".", new) or new.startswith(f"{here}/")
        ]
        for name in (here, *renamed):
            old = folder / name
            if old.exists() or old.is_symlink():
                found[old] = None
    return list(found)


def due(
    now: Sequence[Finding], before: Sequence[Finding], changes: Changes, *, top: Path, folder: Path
) -> Due:
    """Return the findings of today that are due to the change.

    `before` are those in the revision, whose files were written below `folder`. One that git knows
    nothing of, because it ignores the file, is left out.
    """
    today = {path: relative(Path(path), top) for path in {finding.path for finding in now}}
    earlier = {path: relative(Path(path), folder) for path in {one.path for one in before}}
    budget = Counter(_key(finding, earlier[finding.path]) for finding in before)
    shown: list[Finding] = []
    distant: set[Finding] = set()
    for finding in now:
        path = today[finding.path]
        if path is None or not changes.knows(path):
            if _leads_nowhere(finding, changes, top):
                shown.append(finding)
            continue
        key = _key(finding, changes.renamed.get(path, path))
        if changes.has_line(finding, path):
            shown.append(finding)
        elif budget[key]:
            budget[key] -= 1
        else:
            shown.append(finding)
            distant.add(finding)
    return Due(tuple(shown), frozenset(distant))


def relative(path: Path, top: Path) -> str | None:
    """Return a path as seen from `top`, with forward slashes; None when it is outside."""
    real, inside = os.path.realpath(path), os.path.realpath(top)
    if real == inside:
        return "."
    prefix = inside if inside.endswith(os.sep) else f"{inside}{os.sep}"
    return real[len(prefix) :].replace(os.sep, "/") if real.startswith(prefix) else None


def _leads_nowhere(finding: Finding, changes: Changes, top: Path) -> bool:
    """Return whether a finding is about a link that the change made or turned elsewhere."""
    link = Path(finding.path)
    folder = relative(link.parent, top)
    if finding.code != _UNREAD or folder is None:
        return False
    return changes.has_line(finding, link.name if folder == "." else f"{folder}/{link.name}")


def _key(finding: Finding, path: str | None) -> tuple[str | None, ...]:
    # Without the module's name, which a renamed file changes.
    function = finding.chain[-1].function if finding.chain else finding.function
    return (path, finding.code, function, normalised(finding.source))
