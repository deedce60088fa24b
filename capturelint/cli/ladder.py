"""`capturelint ladder`: which batch sizes to capture for a traffic."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.cli.case_options import amount, whole_number
from capturelint.cli.report_options import add_report_arguments, check_report_options, is_colored
from capturelint.errors import CapturelintError, shown_path

if TYPE_CHECKING:
    from capturelint.measure.ladder import Limits
    from capturelint.measure.times import Costs

_FORMATS = ("text", "json")
_MOST_RUNGS = (
    512  # about as many as vLLM captures up to 8,192 rows; the time to place them grows with it
)


class UnknownCostError(CapturelintError):
    """A limit is given on what there are no figures of."""

    def __init__(self, option: str, figure: str, times: Path | None) -> None:
        seen = f"{shown_path(times)} lacks it" if times else "none is assumed"
        super().__init__(f"`{option}` needs `--times` with `{figure}` for each size; {seen}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `ladder`. Numbers are text, so that each mistake is one clear line."""
    parser.add_argument(
        "--traffic",
        metavar="FILE",
        type=Path,
        required=True,
        help='how often each batch size runs: JSON, {"1": 120, "4": 33} or a list of sizes; or lines of'
        " a size, or a size and a count",
    )
    parser.add_argument("--max", metavar="N", help="rows of the largest graph (default: of a step)")
    parser.add_argument(
        "--times",
        metavar="FILE",
        type=Path,
        help="times that `bench` measured (default: assumed, relative ones)",
    )
    parser.add_argument(
        "--multiple-of",
        metavar="K",
        default="1",
        help="rows of a request: 1 + speculative tokens (default: 1)",
    )
    parser.add_argument("--rungs", metavar="N", help="graphs at most")
    parser.add_argument("--memory-limit", metavar="MiB", help="that all graphs may hold")
    parser.add_argument("--startup-limit", metavar="SECONDS", help="that capturing may take")
    add_report_arguments(parser, _FORMATS)


def run(options: argparse.Namespace) -> int:
    """Print which sizes to capture and return 0."""
    return output.until_interrupted(_run, options)


def _run(options: argparse.Namespace) -> int:
    check_report_options(options, _FORMATS)
    from capturelint.measure.advice import advise
    from capturelint.measure.times import assumed_costs, read_costs
    from capturelint.measure.traffic import LARGEST, read_traffic

    rows = whole_number("--multiple-of", options.multiple_of, least=1, most=LARGEST)
    largest = None
    if options.max is not None:
        largest = whole_number("--max", options.max, least=rows, most=LARGEST)
    costs = read_costs(options.times) if options.times else assumed_costs()
    limits = _limits(options, costs)
    traffic = read_traffic(options.traffic)
    advice = advise(traffic, costs, largest=largest, rows_per_request=rows, limits=limits)
    from capturelint.report import ladder_json, ladder_text

    source = shown_path(options.traffic)
    if options.format == "json":
        output.write(ladder_json.render(advice, source=source), options.output)
        return 0
    text = ladder_text.render(advice, source=source, color=is_colored(options))
    output.write(text, options.output)
    return 0


def _limits(options: argparse.Namespace, costs: Costs) -> Limits:
    """Return the limits. Raises `UnknownCostError` for one on what `costs` does not know."""
    from capturelint.measure.ladder import Limits

    rungs, startup, memory = options.rungs, options.startup_limit, options.memory_limit
    limits = Limits(
        rungs=None if rungs is None else whole_number("--rungs", rungs, least=1, most=_MOST_RUNGS),
        startup=None if startup is None else amount("--startup-limit", startup, "seconds"),
        memory=None if memory is None else amount("--memory-limit", memory, "MiB"),
    )
    if limits.startup is not None and costs.capture is None:
        raise UnknownCostError("--startup-limit", "capture_ms", options.times)
    if limits.memory is not None and costs.memory is None:
        raise UnknownCostError("--memory-limit", "mib", options.times)
    return limits
