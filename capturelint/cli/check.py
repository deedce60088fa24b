"""`capturelint check`: report code that breaks under CUDA graph capture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import caching, fixing, narrowing, output, revisions
from capturelint.cli.progress import progress_line
from capturelint.cli.reporting import FORMATS, can_count, has_place_for_chains, report
from capturelint.cli.runs import Runs, check_stdin
from capturelint.errors import CapturelintError
from capturelint.release import ALLOWED, Release, release_of

if TYPE_CHECKING:
    from capturelint.config import Config
    from capturelint.lint.registry import RuleEntry
    from capturelint.lint.result import CheckResult

_STDIN = "-"
_SCOPES = ("captured", "step", "all")
_OFTEN = "repeat, or separate by commas"
_NO_FILE = (
    "no Python file or notebook in {}; files that `exclude` or a skipped folder"
    " (hidden, build, environment) leaves out do not count"
)


class StdinMixedError(CapturelintError):
    """Standard input was asked for together with files."""

    def __init__(self) -> None:
        super().__init__("`-` reads standard input and stands alone; leave out the other paths")


class StatisticsFormatError(CapturelintError):
    """Statistics were asked for in a format that has none."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`--statistics` has no place in {name}; use `--format text` or `json`")


class ChainFormatError(CapturelintError):
    """The ways from roots were asked for in a format that has no place for them."""

    def __init__(self, name: str) -> None:
        super().__init__(f"`--show-chain` has no place in {name}; use `--format text` or `json`")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `check`."""
    add_common_arguments(parser, FORMATS)
    parser.add_argument(
        "--stdin-filename", metavar="NAME", help="what to call `-` (default: stdin.py)"
    )
    codes = parser.add_argument_group("rules, by codes or their beginnings such as CL1")
    for name, effect in (
        ("--select", f"only these, whatever the configuration says ({_OFTEN})"),
        ("--extend-select", f"these too ({_OFTEN})"),
        ("--ignore", f"not these ({_OFTEN})"),
    ):
        codes.add_argument(name, action="append", metavar="CODES", help=effect)
    parser.add_argument(
        "--scope",
        choices=_SCOPES,
        help="captured: what runs inside a CUDA graph (the default); step: also where the host waits "
        "in what runs each step around it; all: these, and every other function, as if captured",
    )
    parser.add_argument(
        "--target-torch",
        type=_release,
        metavar="X.Y",
        help="leave out what this release of torch captures (default: what any release refuses)",
    )
    revisions.add_arguments(parser)
    narrowing.add_arguments(parser)
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there")
    parser.add_argument(
        "--statistics",
        action="store_true",
        help="show counts by code, effect and file; instead of the findings, in JSON beside them",
    )
    parser.add_argument("--show-chain", action="store_true", help="show the way from the root")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 despite findings")
    fixing.add_arguments(parser)
    caching.add_arguments(parser)
    parser.add_argument("--jobs", type=_jobs, metavar="N", help="processes; 0: one per processor")


def add_common_arguments(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Declare the options of every command that reads source files."""
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and folders (default: .)")
    parser.add_argument("--format", choices=formats, default="text", help="default: text")
    parser.add_argument(
        "--exclude",
        action="append",
        metavar="PATTERN",
        help=f"leave out files, as in .gitignore ({_OFTEN})",
    )
    parser.add_argument(
        "--preset",
        action="append",
        metavar="NAME",
        help=f"conventions of an engine, such as vllm; `none` or `auto` ({_OFTEN})",
    )
    parser.add_argument("--config", type=Path, metavar="FILE", help="read this file's settings")
    parser.add_argument("--no-color", action="store_true", help="plain text, also on a terminal")


def run(options: argparse.Namespace) -> int:
    """Check, write the report and return the exit code."""
    return output.until_interrupted(_run, options)


def complain_of_missing(paths: Sequence[Path]) -> list[Path]:
    """Return the paths that are not there, after one line about each of them."""
    missing = [path for path in paths if not path.exists() and not path.is_symlink()]
    if missing:
        from capturelint.report.place import one_line

        for path in missing:
            output.complain(f"no such file or folder: {one_line(str(path))}")
    return missing


def _run(options: argparse.Namespace) -> int:
    paths: list[str] = options.paths or ["."]
    is_stdin = _STDIN in paths
    if is_stdin and len(paths) > 1:
        raise StdinMixedError
    if options.statistics and not can_count(options.format):
        raise StatisticsFormatError(options.format)
    if options.show_chain and not has_place_for_chains(options.format):
        raise ChainFormatError(options.format)
    fixing.check_options(options, is_stdin=is_stdin)
    output.check_writable(options.output)
    entries = narrowing.read_baseline(options)
    files = [] if is_stdin else [Path(path) for path in paths]
    missing = complain_of_missing(files)
    there = [path for path in files if path not in missing]
    since = revisions.asked(options, files, is_stdin=is_stdin)
    # Only now what takes time to load, so that a mistake is answered at once.
    from capturelint.cli.settings import complain_of_patterns, settings, with_selection

    name = Path(options.stdin_filename or "stdin.py")
    given = settings(options, name if is_stdin else files[0])
    config = with_selection(given, options)
    # A run that is read back needs the rules only for some reports.
    rules = cache(partial(_rules, config, given, options))
    runs = Runs(there, config, rules, partial(caching.planned, options, there, config, given))
    with progress_line() as progress:
        if is_stdin:
            result = check_stdin(name, config, rules(), progress)
        else:
            result, seen = runs.made(progress)
        due = None if since is None else since.due(result.findings, config, rules(), progress)
        is_done = True
        if fixing.is_asked(options):
            again = partial(runs.again, progress=progress)
            result, is_done = fixing.Fixing(options, config, seen, again).made(result)
    is_empty = not result.files and not missing and _is_nothing_checked(paths)
    is_mistaken = complain_of_patterns(result, config, options) or bool(missing) or not is_done
    result = narrowing.without_known(
        result, options, entries, config, is_path_missing=bool(missing)
    )
    result = revisions.only_due(result, due)
    distant = due.distant if due is not None else frozenset()
    if not options.diff:
        report(result, options, rules, needs_roots=config.scope.value != "all", distant=distant)
    is_mistaken = is_mistaken or is_empty
    return _exit_code(result, is_mistaken=is_mistaken, exit_zero=options.exit_zero)


def _is_nothing_checked(paths: Sequence[str]) -> bool:
    """Say that there was nothing to check; return whether that is a mistake.

    Files that are named one by one, as a commit hook does it, may all be left out by `exclude`.
    """
    is_mistake = not all(Path(path).is_file() for path in paths)
    said = _NO_FILE.format(", ".join(paths))
    output.complain(said if is_mistake else f"warning: {said}")
    return is_mistake


def _rules(config: Config, given: Config, options: argparse.Namespace) -> Sequence[RuleEntry]:
    """Return all rules. Raises `UnknownCodeError` where a selection means none of them."""
    from capturelint.cli.settings import check_codes, file_of
    from capturelint.lint.registry import all_rules

    rules = all_rules(config.rule_folders)
    codes = [entry.code for entry in rules]
    check_codes(given, codes, file=file_of(given, options))
    check_codes(config, codes)
    return rules


def _exit_code(result: CheckResult, *, is_mistaken: bool, exit_zero: bool) -> int:
    if any(finding.code == "CL001" for finding in result.findings):
        return 3
    if is_mistaken:
        return 2
    return 1 if result.findings and not exit_zero else 0


def _release(text: str) -> Release:
    release = release_of(text)
    if release is None:
        raise argparse.ArgumentTypeError(f"{text!r} is not {ALLOWED}")
    return release


def _jobs(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is no number of processes; give 0 or more")
    return int(text)
