"""`bisect --from`: hold what `check` found against a run of a case."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.errors import CapturelintError

if TYPE_CHECKING:
    from capturelint.debug.settings import Settings
    from capturelint.lint.registry import RuleEntry
    from capturelint.report.standing.stand import Located, Stand
    from capturelint.verdict import Report


class WithoutFindingsError(CapturelintError):
    """What speaks of findings was asked for without any."""

    def __init__(self, option: str) -> None:
        super().__init__(f"`{option}` speaks of findings of `check`; give `--from FILE` beside it")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that speak of findings."""
    group = parser.add_argument_group("findings of `check`, held against the run")
    group.add_argument(
        "--from",
        type=Path,
        metavar="FILE",
        help="what `check --format json` or sarif wrote: tell which findings the run proves or refutes",
    )
    group.add_argument(
        "--write-baseline",
        type=Path,
        metavar="FILE",
        help="add those that it refutes to a baseline of `check`, with what was seen",
    )


def read(options: argparse.Namespace) -> tuple[Located, ...]:
    """Return the findings that were asked about, where they are now. Raises `CapturelintError`."""
    path: Path | None = vars(options)["from"]  # a word of Python's, so that it is no attribute
    if path is None:
        asking = {"--format sarif": options.format == "sarif"}
        asking["--write-baseline"] = options.write_baseline is not None
        for option in (name for name, is_asked in asking.items() if is_asked):
            raise WithoutFindingsError(option)
        return ()
    from capturelint.lint import baseline
    from capturelint.report.standing.located import located
    from capturelint.report.standing.reading import findings_in

    output.check_writable(options.write_baseline)
    if options.write_baseline is not None and options.write_baseline.exists():
        baseline.load(options.write_baseline)
    # A case by the name of a module has no folder here.
    return located(findings_in(path), [path.parent, Path(options.target).parent])


def watching(settings: Settings, findings: Sequence[Located]) -> Settings:
    """Return the settings of a run that watches where the findings are."""
    from dataclasses import replace  # not for the help alone: it takes milliseconds to load

    asked = tuple(one.asked for one in findings if one.asked is not None)
    return replace(settings, asked=asked)


def stands(
    findings: Sequence[Located], report: Report, settings: Settings, baseline_at: Path | None
) -> tuple[Stand, ...]:
    """Return how the findings stand, and add those that are refuted to the baseline asked for."""
    from capturelint.report.standing.judged import judged

    found = judged(findings, report, settings.skip)
    if baseline_at is not None:
        _record(found, baseline_at)
    return found


def sarif(found: Sequence[Stand], rules: Sequence[RuleEntry]) -> str:
    """Return the findings as SARIF, those that are refuted suppressed."""
    from capturelint.lint.result import CheckResult
    from capturelint.report import sarif as form

    findings = tuple(stand.finding for stand in found)
    result = CheckResult(
        findings=findings, roots=0, captured_functions=0, files=0, presets=(), errors=()
    )
    return form.render(result, rules, stands=found)


def _record(found: Sequence[Stand], path: Path) -> None:
    from capturelint.lint import baseline
    from capturelint.report.standing.stand import Standing
    from capturelint.report.text import counted

    refuted = {one.finding: one.why for one in found if one.standing is Standing.REFUTED}
    old = baseline.load(path) if path.exists() else ()
    output.write(baseline.text_with(refuted, path.parent, old), path)
    output.complain(f"baseline {path}: {counted(len(refuted), 'refuted finding')} in it")
