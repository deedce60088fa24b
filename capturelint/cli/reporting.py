"""The report of a check in the format asked for, and where it goes."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output

if TYPE_CHECKING:
    from capturelint.finding import Finding
    from capturelint.lint.registry import RuleEntry
    from capturelint.lint.result import CheckResult

FORMATS = ("text", "concise", "json", "sarif", "github")
_COUNTED = ("text", "json")
_CHAINED = ("text", "json", "sarif")


def report(
    result: CheckResult,
    options: argparse.Namespace,
    rules: Callable[[], Sequence[RuleEntry]],
    *,
    needs_roots: bool,
    distant: Collection[Finding] = (),
) -> None:
    """Write the report, and repeat on stderr what must not go unseen in a file or a program.

    `rules` loads them, since few reports speak of rules. `distant`: findings that a change elsewhere
    brought.
    """
    from capturelint.report import text

    target: Path | None = options.output
    is_for_people = options.format in ("text", "concise")
    if needs_roots and text.is_rootless(result) and (target or not is_for_people):
        output.complain(text.NO_ROOTS)
    color = target is None and output.use_color(sys.stdout, no_color=options.no_color)
    if is_for_people:
        shown = _for_people(result, options, color=color, needs_roots=needs_roots, distant=distant)
        output.write(shown, target)
    else:
        output.write(_for_programs(result, options, rules, distant), target)


def can_count(format: str) -> bool:  # noqa: A002 - the name of the option
    """Return whether a format has a place for the counts of `--statistics`."""
    return format in _COUNTED


def has_place_for_chains(format: str) -> bool:  # noqa: A002 - the name of the option
    """Return whether a format has a place for the ways that `--show-chain` asks for."""
    return format in _CHAINED


def _for_people(
    result: CheckResult,
    options: argparse.Namespace,
    *,
    color: bool,
    needs_roots: bool,
    distant: Collection[Finding],
) -> str:
    from capturelint.report import concise, statistics, text

    if options.format == "text" and not options.statistics:
        return text.render(
            result,
            color=color,
            show_chain=options.show_chain,
            needs_roots=needs_roots,
            distant=distant,
            show_refusals=options.fix,
        )
    shown = statistics.render(result) if options.statistics else concise.render(result, distant)
    end = text.conclusion(result, color=color, needs_roots=needs_roots, hints=options.statistics)
    return "\n".join(part for part in (shown, end) if part)


def _for_programs(
    result: CheckResult,
    options: argparse.Namespace,
    rules: Callable[[], Sequence[RuleEntry]],
    distant: Collection[Finding],
) -> str:
    from capturelint.report import github, json, sarif

    if options.format == "json":
        return json.render(result, counts=options.statistics, distant=distant)
    if options.format == "sarif":
        return sarif.render(result, rules(), distant)
    return github.render(result, folder=_folder_in_workspace(), distant=distant)


def _folder_in_workspace() -> str:
    """Return the working directory as seen from the checkout of a GitHub workflow, "" for its top."""
    workspace = os.environ.get("GITHUB_WORKSPACE")
    if not workspace:
        return ""
    top, here = Path(workspace).resolve(), Path.cwd()
    if top == here or not here.is_relative_to(top):
        return ""
    return here.relative_to(top).as_posix()
