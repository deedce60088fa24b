"""`capturelint doctor`: what is there to run models with, and what a missing piece takes away."""

from __future__ import annotations

import argparse
import platform

from capturelint import __version__
from capturelint.cli import output


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `doctor`."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")


def run(options: argparse.Namespace) -> int:
    """Try what there is, print it and return 0."""
    from capturelint.debug.aids import aids
    from capturelint.report import aids as report

    found = list(aids())
    versions = f"capturelint {__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    render = report.render_json if options.format == "json" else report.render
    output.write(render(found, versions=versions), None)
    return 0
