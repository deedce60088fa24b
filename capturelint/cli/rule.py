"""`capturelint rule`: explain one rule, or list them all."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from capturelint.cli import output
from capturelint.config import load_config
from capturelint.lint.codes import OWN
from capturelint.lint.registry import RuleEntry, all_rules, find_rule
from capturelint.report import page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `rule`."""
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument(
        "code", nargs="?", help="of a rule, such as CL101, or its name, such as host-read"
    )
    which.add_argument(
        "--all", action="store_true", help="list every rule, with a sentence on each"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.add_argument("--config", type=Path, metavar="FILE", help="read this file's settings")


def run(options: argparse.Namespace) -> int:
    """Print one page or the list and return 0. Raises `UnknownRuleError`."""
    code: str | None = options.code
    config = load_config(Path.cwd(), explicit=options.config)
    rules = all_rules(config.rule_folders)
    shown = _all(rules) if code is None else [_one(code, rules)]
    if options.format == "json":
        report = page.render_json(shown)
    else:
        report = page.render_list(shown) if code is None else page.render(shown[0])
    output.write(report, None)
    return 0


def _all(rules: Sequence[RuleEntry]) -> list[page.Topic]:
    return sorted([*OWN, *rules], key=lambda topic: topic.code)


def _one(code: str, rules: Sequence[RuleEntry]) -> page.Topic:
    own = [one for one in OWN if code.upper() == one.code or code.lower() == one.name]
    return own[0] if own else find_rule(code, rules)
