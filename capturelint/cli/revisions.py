"""`--since`: of the findings only those that are due to what changed since a revision."""

from __future__ import annotations

import argparse
import gc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.errors import CapturelintError

if TYPE_CHECKING:
    from capturelint.config import Config
    from capturelint.finding import Finding
    from capturelint.lint.registry import RuleEntry
    from capturelint.lint.repository import Repository
    from capturelint.lint.result import CheckResult
    from capturelint.lint.since import Changes, Due

    Progress = Callable[[str], None] | None


class StdinSinceError(CapturelintError):
    """Standard input was to be compared with a revision."""

    def __init__(self) -> None:
        super().__init__("`--since` compares files; leave out `-`")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the option."""
    parser.add_argument(
        "--since",
        metavar="REV",
        help="only what changed since this git revision: findings on changed lines, and those that"
        " other lines have because of the change; `main...` is where HEAD branched off from main",
    )


class Since:
    """The revision that a run is compared with. Made before the work; raises `GitError` then."""

    def __init__(self, revision: str, paths: Sequence[Path]) -> None:
        from capturelint.lint import since
        from capturelint.lint.repository import repository_of

        self._paths = [path for path in paths if path.exists()]
        self._repository: Repository = repository_of((self._paths or [Path()])[0])
        since.check_inside(self._paths, self._repository.top)
        self._commit = self._repository.commit(revision)

    def due(
        self,
        findings: Sequence[Finding],
        config: Config,
        rules: Sequence[RuleEntry],
        progress: Progress,
    ) -> Due:
        """Return the findings that are due to the change, after a check of the revision."""
        import tempfile

        from capturelint.lint import since

        top = self._repository.top
        changes = since.changes_since(self._repository, self._commit)
        if changes.is_empty():
            return since.Due((), frozenset())
        with tempfile.TemporaryDirectory(
            prefix="capturelint-", ignore_cleanup_errors=True
        ) as place:
            # A folder of the same name, because a package may begin in it.
            folder = Path(place).resolve() / (top.name or "top")
            since.write_revision(self._repository, self._commit, folder)
            before = self._before(changes, config, rules, progress, folder)
            return since.due(findings, before, changes, top=top, folder=folder)

    def _before(
        self,
        changes: Changes,
        config: Config,
        rules: Sequence[RuleEntry],
        progress: Progress,
        folder: Path,
    ) -> Sequence[Finding]:
        """Return the findings of a check of the revision's files, with the settings of today."""
        from dataclasses import replace

        from capturelint.lint import engine, since

        paths = since.old_paths(self._paths, changes, top=self._repository.top, folder=folder)
        if not paths:
            return ()
        inside = since.relative(config.root, self._repository.top)
        old = replace(config, root=folder if inside is None else folder / inside)
        told = None if progress is None else _prefixed(progress)
        # What the run before made; the collector is off.
        gc.collect()
        return engine.check(paths, old, rules, progress=told).findings


def asked(options: argparse.Namespace, paths: Sequence[Path], *, is_stdin: bool) -> Since | None:
    """Return the revision to compare with, None if there is none. Raises `CapturelintError`."""
    if options.since is None:
        return None
    if is_stdin:
        raise StdinSinceError
    return Since(options.since, paths)


def only_due(result: CheckResult, due: Due | None) -> CheckResult:
    """Return a result without the findings that are not due to a change; None leaves all."""
    if due is None:
        return result
    from dataclasses import replace

    chosen = frozenset(due.findings)
    kept = tuple(finding for finding in result.findings if finding in chosen)
    return replace(result, findings=kept, older=len(result.findings) - len(kept))


def _prefixed(progress: Callable[[str], None]) -> Callable[[str], None]:
    return lambda text: progress(f"before the change: {text}")
