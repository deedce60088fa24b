"""`capturelint roots`: list captured regions and how each captured function is reached."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from capturelint.cli import output
from capturelint.cli.check import add_common_arguments, complain_of_missing
from capturelint.cli.progress import progress_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `roots`."""
    add_common_arguments(parser, ("text", "json"))
    parser.add_argument(
        "--scope",
        choices=("captured", "step"),
        help="captured: captured regions (the default); step: also what runs each step around them",
    )
    parser.add_argument(
        "--reached",
        action="store_true",
        help="also list the functions that each root reaches, each with the calls that lead there",
    )


def run(options: argparse.Namespace) -> int:
    """List the roots and return 0, or 2 when a path is missing or a pattern matches nothing."""
    return output.until_interrupted(_run, options)


def _run(options: argparse.Namespace) -> int:
    paths = [Path(path) for path in options.paths or ["."]]
    missing = complain_of_missing(paths)
    from capturelint.cli.settings import complain_of_patterns, settings
    from capturelint.lint import listing
    from capturelint.report import roots as report
    from capturelint.report.text import NO_ROOTS

    config = settings(options, paths[0])
    with progress_line() as progress:
        found = listing.list_roots(paths, config, progress=progress)
    is_mistaken = complain_of_patterns(found, config, options)
    roots = found.roots
    if options.format == "json":
        if not roots:
            output.complain(NO_ROOTS)
        output.write(report.render_json(roots, reached=options.reached), None)
    else:
        color = output.use_color(sys.stdout, no_color=options.no_color)
        output.write(report.render_text(roots, color=color, reached=options.reached), None)
    return 2 if missing or is_mistaken else 0
