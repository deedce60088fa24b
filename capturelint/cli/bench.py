"""`capturelint bench`: what a graph is worth for a case, by batch size."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.cli.case_options import (
    RUN_OPTIONS,
    BadOptionError,
    add_run_arguments,
    add_source_arguments,
    run_choices,
    whole_number,
)
from capturelint.cli.progress import progress_line
from capturelint.cli.report_options import add_report_arguments, check_report_options, is_colored
from capturelint.cli.settings import words
from capturelint.errors import CapturelintError, shown_path

if TYPE_CHECKING:
    from capturelint.debug.settings import Settings
    from capturelint.measure.bench.plan import Plan
    from capturelint.measure.bench.result import Bench

_FORMATS = ("text", "json", "csv")
_SIZES = "1,4,32,128"
_REPEATS = "40"
# What says how a case is run, with what it is if it is not given.
_OF_A_CASE = {
    "inputs": None,
    "call": None,
    "batch_sizes": _SIZES,
    "callables": None,
    "compile": False,
    "eager": None,
    "dtype": None,
    "autocast": None,
    "seed": "0",
    "capture_error_mode": "global",
    "repeats": _REPEATS,
    "svg": None,
}
_MODES = ("target", "compare", "from_serve", "shapes")
_LARGEST = 2**20  # rows
_MOST_REPEATS = 100_000
_INPUTS = 4  # fresh inputs that replays are compared on, and that steps take turns with


class NoModeError(CapturelintError):
    """Neither a case nor files were given, or more than one of them."""

    def __init__(self) -> None:
        super().__init__(
            "bench takes a case (FILE.py:make), or one of --compare, --from-serve and --shapes"
        )


class UselessOptionError(CapturelintError):
    """An option is given without what it goes with."""

    def __init__(self, option: str, needed: str) -> None:
        super().__init__(f"`{option}` goes with {needed}; leave it out, or give that too")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `bench`. Numbers are text, so that each mistake is one clear line."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="FILE.py:NAME or package.module:NAME of a case whose inputs take a batch_size",
    )
    add_source_arguments(parser)
    run = parser.add_argument_group("how to run it")
    run.add_argument(
        "--batch-sizes",
        metavar="N,..",
        default=_SIZES,
        help=f"rows of each step to measure (default: {_SIZES})",
    )
    run.add_argument("--callables", metavar="NAME", action="append", help="of several, only these")
    run.add_argument("--compile", action="store_true", help="also under torch.compile")
    run.add_argument(
        "--eager", metavar="GLOB", action="append", help="modules that run between captured pieces"
    )
    add_run_arguments(run, RUN_OPTIONS)
    run.add_argument(
        "--repeats", metavar="N", default=_REPEATS, help=f"steps that count (default: {_REPEATS})"
    )
    files = parser.add_argument_group("from files, without a GPU")
    files.add_argument(
        "--compare", nargs=2, type=Path, metavar="FILE", help="two files of bench, side by side"
    )
    files.add_argument(
        "--from-serve",
        nargs=2,
        type=Path,
        metavar="FILE",
        help="results of `vllm bench serve`, of an eager and of a graph server",
    )
    files.add_argument("--shapes", type=Path, metavar="FILE", help="shapes of calls, as in prefill")
    files.add_argument(
        "--times", type=Path, metavar="FILE", help="of bench, for what --shapes cost"
    )
    add_report_arguments(parser, _FORMATS)
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also write a chart there")


def run(options: argparse.Namespace) -> int:
    """Measure, or read what was measured, write the report and return the exit code."""
    return output.until_interrupted(_run, options)


def _run(options: argparse.Namespace) -> int:
    check_report_options(options, _FORMATS)
    if sum(getattr(options, mode) is not None for mode in _MODES) != 1:
        raise NoModeError
    _check_fitting(options)
    output.check_writable(options.svg)
    if options.target is None:
        return _from_files(options)
    found = _measured(options)
    output.write(_rendered(found, options), options.output)
    if options.svg is not None:
        from capturelint.report import bench_chart

        output.write(bench_chart.svg(found), options.svg)
    return found.exit_code


def _check_fitting(options: argparse.Namespace) -> None:
    """Raise `UselessOptionError` for an option that would do nothing here."""
    if options.times is not None and options.shapes is None:
        raise UselessOptionError("--times", "--shapes")
    if options.svg is not None and options.svg == options.output:
        raise BadOptionError("--svg", str(options.svg), "another file than that of `--output`")
    if options.target is not None:
        return
    for name, default in _OF_A_CASE.items():
        if getattr(options, name) != default:
            raise UselessOptionError(f"--{name.replace('_', '-')}", "a case")


def _from_files(options: argparse.Namespace) -> int:
    if options.format != "text":
        raise BadOptionError("--format", options.format, "text for a table of files")
    from capturelint.measure.bench import saved, serving, shapes
    from capturelint.measure.times import read_costs
    from capturelint.report import bench_tables

    if options.compare is not None:
        text = bench_tables.compared(saved.compared(*options.compare))
    elif options.from_serve is not None:
        eager, graph = options.from_serve
        found = serving.servers(eager, graph)
        text = bench_tables.served(found, eager=shown_path(eager), graph=shown_path(graph))
    else:
        counted = shapes.read_shapes(options.shapes)
        costs = read_costs(options.times) if options.times else None
        text = bench_tables.shapes(counted, costs, source=shown_path(options.shapes))
    output.write(text, options.output)
    return 0


def _measured(options: argparse.Namespace) -> Bench:
    settings, plan = _settings(options), _plan(options)
    from capturelint.debug.cases.named import check_named
    from capturelint.debug.cases.requirements import require_torch

    check_named(options.target, options.inputs)
    require_torch("bench")
    from capturelint.measure.bench.on_gpu import check_gpu

    check_gpu()
    from capturelint.measure.bench.on_gpu import bench

    with progress_line() as progress, redirect_stdout(sys.stderr):
        return bench(
            options.target,
            inputs=options.inputs,
            call=options.call,
            settings=settings,
            plan=plan,
            say=progress or (lambda _text: None),
        )


def _settings(options: argparse.Namespace) -> Settings:
    from capturelint.debug.settings import Settings

    return Settings(replays=_INPUTS, **run_choices(options))


def _plan(options: argparse.Namespace) -> Plan:
    from capturelint.measure.bench.plan import Plan

    given = options.batch_sizes.split(",")
    sizes = [whole_number("--batch-sizes", one.strip(), least=1, most=_LARGEST) for one in given]
    if len(set(sizes)) < len(sizes):
        raise BadOptionError("--batch-sizes", options.batch_sizes, "each size once")
    return Plan(
        sizes=tuple(sorted(sizes)),
        callables=words(options.callables),
        compiled=options.compile,
        eager=words(options.eager),
        repeats=whole_number("--repeats", options.repeats, least=1, most=_MOST_REPEATS),
    )


def _rendered(found: Bench, options: argparse.Namespace) -> str:
    from capturelint.report import bench_csv, bench_json, bench_text

    if options.format == "json":
        return bench_json.render(found)
    if options.format == "csv":
        return bench_csv.render(found)
    return bench_text.render(found, color=is_colored(options))
