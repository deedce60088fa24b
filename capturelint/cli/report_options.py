"""The options of commands that measure or run: in which form the report comes, and where it goes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from capturelint.cli import output
from capturelint.cli.case_options import BadOptionError


def add_report_arguments(parser: argparse.ArgumentParser, formats: Sequence[str]) -> None:
    """Declare `--format`, whose default is `text`, `--output` and `--no-color`."""
    parser.add_argument("--format", metavar="|".join(formats), default="text", help="default: text")
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there")
    parser.add_argument("--no-color", action="store_true", help="plain text, also on a terminal")


def check_report_options(options: argparse.Namespace, formats: Sequence[str]) -> None:
    """Raise `BadOptionError` or `OutputError` for a wrong form or place, before work is spent."""
    if options.format not in formats:
        allowed = f"one of {', '.join(formats)}"
        raise BadOptionError("--format", options.format, allowed, known=formats)
    output.check_writable(options.output)


def is_colored(options: argparse.Namespace) -> bool:
    """Return whether to colour the report."""
    return options.output is None and output.use_color(sys.stdout, no_color=options.no_color)
