"""`capturelint bisect`: run a model and name the module and line that a CUDA graph breaks on."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from capturelint.cli import fixing, output, proving, standing
from capturelint.cli.case_options import add_case_arguments, case_settings
from capturelint.cli.progress import progress_line
from capturelint.cli.report_options import add_report_arguments, check_report_options, is_colored

if TYPE_CHECKING:
    from capturelint.debug.settings import Settings
    from capturelint.lint.registry import RuleEntry
    from capturelint.report.explain import Explained
    from capturelint.report.standing.stand import Stand
    from capturelint.verdict import Report

_FORMATS = ("text", "concise", "json", "sarif")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `bisect`."""
    add_case_arguments(parser)
    parser.add_argument("--first", action="store_true", help="stop at the first line to blame")
    parser.add_argument(
        "--resume", action="store_true", help="go on where a run of this case was killed"
    )
    add_report_arguments(parser, _FORMATS)
    standing.add_arguments(parser)
    proving.add_arguments(parser)
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 despite culprits")


def run(options: argparse.Namespace) -> int:
    """Run the case, write the report and return the exit code."""
    return output.until_interrupted(_run, options)


def _run(options: argparse.Namespace) -> int:
    settings = case_settings(options)
    check_report_options(options, _FORMATS)
    proving.check_options(options)
    findings = standing.read(options)
    settings = standing.watching(settings, findings)
    from capturelint.debug.cases.named import check_named
    from capturelint.debug.cases.requirements import require_torch

    # What the source alone tells is told at once: rules and torch take seconds to import.
    check_named(options.target, options.inputs)
    require_torch()
    # What the user may have to mend in the settings is said before the run, not after it.
    from dataclasses import fields

    from capturelint.config import load_config
    from capturelint.debug import api
    from capturelint.debug.cases.importing import home_of
    from capturelint.lint.registry import all_rules
    from capturelint.report.explain import explained

    home = home_of(options.target)
    config = load_config(home, explicit=None)
    # Without settings the project of a case elsewhere is where it is imported from.
    root = config.root if home.is_relative_to(config.root) else home
    rules = all_rules(config.rule_folders)
    started = time.monotonic()
    with progress_line() as progress:
        if fixing.is_asked(options):
            report = _rewriting(options, settings, progress)
        else:
            report = api.bisect(
                options.target,
                inputs=options.inputs,
                call=options.call,
                resume=options.resume,
                progress=progress,
                **{field.name: getattr(settings, field.name) for field in fields(settings)},
            )
        if progress is not None:
            progress("looking up rules")
        report = _counted(report, seconds=time.monotonic() - started, replays=settings.replays)
        result = explained(report, rules)
    stands = standing.stands(findings, result.report, settings, options.write_baseline)
    if not options.diff:
        output.write(_rendered(result, stands, rules, options), options.output)
    if fixing.is_asked(options) and not proving.made(report, options, root):
        return 2
    code = report.exit_code
    return 0 if code == 1 and options.exit_zero else code


def _rewriting(
    options: argparse.Namespace, settings: Settings, progress: Callable[[str], None] | None
) -> Report:
    """Return the report on the case, with what can be written instead."""
    from capturelint.debug.processes.request import Request
    from capturelint.rewrite.allowed import Allowed
    from capturelint.rewrite.prove import bisect_and_rewrite

    request = Request(options.target, settings, options.inputs, options.call)
    return bisect_and_rewrite(
        request, resume=options.resume, progress=progress, allowed=Allowed.of(options)
    )


def _counted(report: Report, *, seconds: float, replays: int) -> Report:
    """Return the report with the time that the user waited and the replays that were asked for."""
    from dataclasses import replace

    return replace(report, timings={"total": seconds, "replays": replays, **report.timings})


def _rendered(
    result: Explained,
    stands: Sequence[Stand],
    rules: Sequence[RuleEntry],
    options: argparse.Namespace,
) -> str:
    from capturelint.report import bisect_concise, bisect_json, bisect_text

    if options.format == "json":
        return bisect_json.render(result.report, stands)
    if options.format == "sarif":
        return standing.sarif(stands, rules)
    if options.format == "concise":
        return bisect_concise.render(result.report, stands)
    is_terminal = options.output is None and sys.stdout is not None and sys.stdout.isatty()
    return bisect_text.render(
        result.report,
        advice=result.advice,
        width=shutil.get_terminal_size().columns if is_terminal else None,
        color=is_colored(options),
        stands=stands,
    )
