"""The run behind `check`: read back from the cache, or made, and made again with other texts."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capturelint.config import Config
    from capturelint.lint.cache.run import Run
    from capturelint.lint.cache.seen import Seen
    from capturelint.lint.registry import RuleEntry
    from capturelint.lint.result import CheckResult
    from capturelint.lint.subjects import Mender

    Progress = Callable[[str], None] | None


class Runs:
    """Runs over the same files with the same settings.

    `plan` says which run is asked for, as the files are now; it returns None where nothing is kept.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        config: Config,
        rules: Callable[[], Sequence[RuleEntry]],
        plan: Callable[[], Run | None],
    ) -> None:
        self.paths = paths
        self.config = config
        self.rules = rules
        self.plan = plan

    def made(self, progress: Progress) -> tuple[CheckResult, Seen]:
        """Return what is found in the files as they are, and what was read for it."""
        from capturelint.lint.cache.seen import Seen

        run = self.plan()
        kept = None if run is None else run.found(self._judges)
        if run is not None and kept is not None:
            return kept, run.seen
        if run is None:
            seen = Seen()
            return self._check(progress, None, seen, {}), seen
        result = self._check(progress, run, run.seen, {})
        run.keep(result)
        return result, run.seen

    def _judges(self) -> tuple[Sequence[RuleEntry], Mender]:
        from capturelint.rewrite.mend import mended

        return self.rules(), mended

    def again(self, texts: Mapping[str, str], progress: Progress) -> CheckResult:
        """Return what would be found if the files with these paths held these texts."""
        from capturelint.lint.cache.seen import Seen

        if not texts:
            return self.made(progress)[0]
        # What the run before made; the collector is off.
        gc.collect()
        return self._check(progress, self.plan(), Seen(), texts)

    def _check(
        self, progress: Progress, run: Run | None, seen: Seen, texts: Mapping[str, str]
    ) -> CheckResult:
        from capturelint.lint import engine
        from capturelint.rewrite.mend import mended

        return engine.check(
            self.paths,
            self.config,
            self.rules(),
            progress=progress,
            store=None if run is None else run.store(),
            seen=seen,
            mend=mended,
            texts=texts,
        )


def check_stdin(
    name: Path, config: Config, rules: Sequence[RuleEntry], progress: Progress
) -> CheckResult:
    """Return what is found in the text from standard input, to be called `name`."""
    from capturelint.lint import engine, files
    from capturelint.lint.result import CheckResult
    from capturelint.rewrite.mend import mended

    try:
        data = b"" if sys.stdin is None else sys.stdin.buffer.read()
        text = files.decode(data, name)
    except files.UnreadableFileError as error:
        finding = files.as_finding(error.problem, name.as_posix())
        return CheckResult(
            findings=(finding,), roots=0, captured_functions=0, files=1, presets=(), errors=()
        )
    return engine.check([], config, rules, stdin=(name, text), progress=progress, mend=mended)
