"""A small project on disk that is edited and checked again, with a cache and without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from capturelint.lint import engine
from capturelint.lint.cache.folder import CacheFolder
from capturelint.lint.cache.run import Run
from capturelint.lint.registry import RuleEntry, builtin_rules
from capturelint.lint.result import CheckResult
from capturelint.lint.subjects import Mender
from capturelint.rewrite.mend import mended
from tests.unit.lint.probe import config_for, written


class Project:
    """A small project on disk, checked with and without a cache."""

    def __init__(self, folder: Path, files: Mapping[str, str], **settings: object) -> None:
        self.folder = written(folder / "project", files)
        self.config = config_for(self.folder, **settings)

    def run(self) -> Run:
        folder = CacheFolder.opened(self.folder / ".capturelint_cache", is_named=False)
        assert folder is not None
        return Run(folder, [self.folder], self.config)

    def cached(self, meanwhile: Callable[[str], None] | None = None) -> tuple[CheckResult, bool]:
        """Return what a run finds, and whether it was spared a whole check.

        `meanwhile` is called with what a whole check is about to do.
        """
        run = self.run()
        found = run.found(_judges)
        if found is not None:
            return found, True
        found = engine.check(
            [self.folder],
            self.config,
            builtin_rules(),
            store=run.store(),
            seen=run.seen,
            progress=meanwhile,
            mend=mended,
        )
        run.keep(found)
        return found, False

    def plain(self) -> CheckResult:
        return engine.check([self.folder], self.config, builtin_rules(), mend=mended)

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.folder / name
        text = path.read_text()
        assert old in text, old
        path.write_text(text.replace(old, new))


def _judges() -> tuple[Sequence[RuleEntry], Mender]:
    return builtin_rules(), mended
