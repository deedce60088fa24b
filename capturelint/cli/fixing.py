"""`check --fix` and `--diff`: rewrite what can be rewritten, or show how."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.errors import CapturelintError, shown_path

if TYPE_CHECKING:
    from capturelint.config import Config
    from capturelint.lint.cache.seen import Seen
    from capturelint.lint.result import CheckResult
    from capturelint.rewrite.rounds import Rewritten
    from capturelint.rewrite.writing import Original

# Checks again, were the files with these paths to hold these texts.
Again = Callable[[Mapping[str, str]], "CheckResult"]


class FixOptionError(CapturelintError):
    """Options were given that do not go with `--fix` or `--diff`, or need one of them."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that speak of fixes."""
    group = parser.add_argument_group(
        "fixes, where the source alone shows that results stay the same"
    )
    group.add_argument("--fix", action="store_true", help="rewrite files in place")
    group.add_argument("--diff", action="store_true", help="show what `--fix` would do, as a patch")
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="also make fixes after which code no longer raises where it did",
    )
    group.add_argument(
        "--allow-dirty",
        action="store_true",
        help="also rewrite files whose text git could not give back",
    )


def check_options(options: argparse.Namespace, *, is_stdin: bool) -> None:
    """Raise `FixOptionError` for options that do not go together."""
    asked = "--fix" if options.fix else "--diff"
    if options.fix and options.diff:
        raise FixOptionError("`--fix` writes and `--diff` shows; leave one of them out")
    if not is_asked(options):
        for name in ("unsafe_fixes", "allow_dirty"):
            if getattr(options, name):
                flag = name.replace("_", "-")
                raise FixOptionError(f"`--{flag}` needs `--fix` or `--diff` beside it")
        return
    if is_stdin:
        raise FixOptionError(f"`{asked}` needs files; leave out `-`")
    for name in ("since", "baseline", "write_baseline"):
        if getattr(options, name) is not None:
            flag = name.replace("_", "-")
            raise FixOptionError(f"`{asked}` goes over all findings; leave out `--{flag}`")
    if options.diff and (options.format != "text" or options.statistics):
        raise FixOptionError("`--diff` prints a patch; leave out `--format` and `--statistics`")


def is_asked(options: argparse.Namespace) -> bool:
    """Return whether fixes are to be made or shown."""
    return bool(options.fix or options.diff)


class Fixing:
    """One run with fixes. `seen` is what it read; `again` checks with other texts for some files."""

    def __init__(
        self, options: argparse.Namespace, config: Config, seen: Seen, again: Again
    ) -> None:
        self.options = options
        self.config = config
        self.seen = seen
        self.again = again

    def made(self, result: CheckResult) -> tuple[CheckResult, bool]:
        """Make or show the fixes. Return what is left, and whether all could be done."""
        from capturelint.rewrite.form import Grade
        from capturelint.rewrite.rounds import rewritten

        paths = {shown_path(path): path for path in self.seen.files}
        originals: dict[str, Original | None] = {}

        def text_of(shown: str) -> str | None:
            if shown not in originals:
                originals[shown] = self._original(paths[shown], shown)
            original = originals[shown]
            return None if original is None else original.text

        unsafe = {Grade.UNSAFE} if self.options.unsafe_fixes else set()
        done = rewritten(
            result.findings,
            frozenset({Grade.PROVEN, *unsafe}),
            text_of,
            lambda texts: self.again({paths[one]: text for one, text in texts.items()}).findings,
        )
        for shown in sorted(done.kept):
            output.complain(f"{shown} not rewritten: its fixes would bring other findings")
        known = {shown: one for shown, one in originals.items() if one is not None}
        is_done = len(known) == len(originals)
        if self.options.diff:
            self._show(done, known)
            return result, is_done
        is_done = self._write(done, known) and is_done
        return (self.again({}) if done.texts else result), is_done

    def _original(self, path: str, shown: str) -> Original | None:
        held = self.seen.files[path].digest
        return original_of(Path(path), shown, held, self.config.root, self.options)

    def _show(self, done: Rewritten, originals: Mapping[str, Original]) -> None:
        from capturelint.rewrite.compose import unified_diff

        patches = (
            unified_diff(originals[shown].text, text, shown.lstrip("/"))
            for shown, text in sorted(done.texts.items())
        )
        patch = "".join(patches).removesuffix("\n")
        if patch or self.options.output is not None:
            output.write(patch, self.options.output)
        output.complain(_told("would fix", done.fixes.total(), len(done.texts)))

    def _write(self, done: Rewritten, originals: Mapping[str, Original]) -> bool:
        from capturelint.rewrite.writing import UnwritableError

        is_done, files, fixes = True, 0, 0
        for shown, text in sorted(done.texts.items()):
            try:
                originals[shown].replace(text)
            except UnwritableError as error:
                output.complain(f"{shown} not rewritten: it {error}")
                is_done = False
            else:
                files, fixes = files + 1, fixes + done.fixes[shown]
        output.complain(_told("fixed", fixes, files))
        return is_done


def original_of(
    path: Path, shown: str, held: str, root: Path, options: argparse.Namespace
) -> Original | None:
    """Return a file that may be changed; None, after a line that says why, for any other.

    `held`: the digest of what it held when it was looked at. `root`: of the project.
    """
    from capturelint.rewrite import writing

    try:
        writing.check_own(path, root)
        if options.fix and not options.allow_dirty:
            writing.check_clean(path)
        return writing.Original.of(path, held)
    except writing.UnwritableError as error:
        output.complain(f"{shown} not rewritten: it {error}")
        return None


def _told(deed: str, fixes: int, files: int) -> str:
    from capturelint.report.text import counted

    if not fixes:
        return "nothing to fix"
    return f"{deed} {counted(fixes, 'finding')} in {counted(files, 'file')}"
