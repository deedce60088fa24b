"""Show fewer findings than there are: not those that a baseline holds."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.errors import CapturelintError

if TYPE_CHECKING:
    from capturelint.config import Config
    from capturelint.lint.baseline import Entry
    from capturelint.lint.result import CheckResult


class TwoBaselinesError(CapturelintError):
    """A baseline was to be read and written in one run."""

    def __init__(self) -> None:
        super().__init__("`--write-baseline` records all findings; leave out `--baseline`")


class IncompleteBaselineError(CapturelintError):
    """A baseline was to be written of a run that could not look at everything."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path} not written, because a path is missing; correct the paths")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that choose which findings are shown."""
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="do not show findings that this file holds"
    )
    parser.add_argument(
        "--write-baseline",
        type=Path,
        metavar="FILE",
        help="record all findings in this file, as known from now on",
    )


def read_baseline(options: argparse.Namespace) -> tuple[Entry, ...]:
    """Return the entries of the baseline asked for, before work is spent. Raises `CapturelintError`."""
    if options.baseline is not None and options.write_baseline is not None:
        raise TwoBaselinesError
    output.check_writable(options.write_baseline)
    if options.baseline is None:
        return ()
    from capturelint.lint import baseline

    return baseline.load(options.baseline)


def without_known(
    result: CheckResult,
    options: argparse.Namespace,
    entries: Sequence[Entry],
    config: Config,
    *,
    is_path_missing: bool,
) -> CheckResult:
    """Return a result without what a baseline holds, after writing that baseline if asked to.

    Entries that nothing matches any more are told on stderr.
    """
    path: Path | None = options.baseline or options.write_baseline
    if path is None:
        return result
    from dataclasses import replace

    from capturelint.lint import baseline

    if options.write_baseline is not None:
        if is_path_missing:
            raise IncompleteBaselineError(path)
        text = baseline.text_of(result.findings, path.parent, old=baseline.entries_at(path))
        output.write(text, path)
        entries = baseline.load(path)
    compared = baseline.compare(result.findings, entries, path.parent)
    paths = [options.stdin_filename or "stdin.py"] if options.paths == ["-"] else options.paths
    looked_at = [Path(name) for name in paths or ["."]]
    gone = [
        entry
        for entry in compared.gone
        if config.selects(entry.code) and _is_under(path.parent / entry.path, looked_at)
    ]
    if gone:
        output.complain(_told(gone, path))
    known = len(result.findings) - len(compared.new)
    return replace(result, findings=compared.new, baselined=known)


def _told(gone: Sequence[Entry], path: Path) -> str:
    from capturelint.report.place import one_line

    first = gone[0]
    number = "1 entry" if len(gone) == 1 else f"{len(gone)} entries"
    function = f" in {first.function}" if first.function else ""
    return (
        f"baseline {path}: {number} matched by nothing any more, the first {first.code}{function}"
        f" ({one_line(first.path)}); `--write-baseline {path}` leaves them out"
    )


def _is_under(path: Path, tops: Sequence[Path]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(top)) for top in tops)
