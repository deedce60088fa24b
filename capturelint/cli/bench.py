"""`capturelint bench`: what a graph is worth for a case, by batch size."""

from __future__ import annotations

import argparse
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.cli.case_options import BadOptionError, whole_number
from capturelint.cli.progress import progress_line
from capturelint.cli.settings import words
from capturelint.errors import CapturelintError, shown_path

if TYPE_CHECKING:
    from capturelint.debug.settings import Settings
    from capturelint.measure.bench.plan import Plan
    from capturelint.measure.bench.result import Bench

_FORMATS = ("text", "json", "csv")
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `bench`. Numbers are text, so that each mistake is one clear line."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help="FILE.py:NAME or package.module:NAME of a case whose inputs take a batch_size",
    )
    parser.add_argument("--inputs", metavar="FILE.py:NAME", help="what makes the inputs")
    parser.add_argument("--call", metavar="METHOD", help="the method to call (default: forward)")
    run = parser.add_argument_group("how to run it")
    run.add_argument(
        "--batch-sizes", metavar="N,..", default="1,4,32,128", help="default: 1,4,32,128"
    )
    run.add_argument("--callables", metavar="NAME", action="append", help="of several, only these")
    run.add_argument("--compile", action="store_true", help="also under torch.compile")
    run.add_argument(
        "--eager", metavar="GLOB", action="append", help="modules that run between captured pieces"
    )
    run.add_argument("--dtype", metavar="TYPE", help="run in float16, bfloat16, float32 or float64")
    run.add_argument("--autocast", metavar="TYPE", help="under autocast to float16 or bfloat16")
    run.add_argument("--seed", metavar="N", default="0", help="of inputs (default: 0)")
    run.add_argument("--repeats", metavar="N", default="40", help="steps that count (default: 40)")
    run.add_argument(
        "--capture-error-mode", metavar="MODE", default="global", help="as bisect has it"
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
    parser.add_argument(
        "--format", metavar="|".join(_FORMATS), default="text", help="default: text"
    )
    parser.add_argument("--output", type=Path, metavar="FILE", help="write the report there")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="also write a chart there")
    parser.add_argument("--no-color", action="store_true", help="plain text, also on a terminal")


def run(options: argparse.Namespace) -> int:
    """Measure, or read what was measured, write the report and return the exit code."""
    return output.until_interrupted(_run, options)


def _run(options: argparse.Namespace) -> int:
    if options.format not in _FORMATS:
        allowed = f"one of {', '.join(_FORMATS)}"
        raise BadOptionError("--format", options.format, allowed, known=_FORMATS)
    if sum(getattr(options, mode) is not None for mode in _MODES) != 1:
        raise NoModeError
    output.check_writable(options.output)
    output.check_writable(options.svg)
    if options.target is None:
        return _from_files(options)
    found = _measured(options)
    output.write(_rendered(found, options), options.output)
    if options.svg is not None:
        from capturelint.report import bench_chart

        output.write(bench_chart.svg(found), options.svg)
    return found.exit_code


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
        pairs = serving.pairs(eager, graph)
        text = bench_tables.served(pairs, eager=shown_path(eager), graph=shown_path(graph))
    else:
        found = shapes.read_shapes(options.shapes)
        costs = read_costs(options.times) if options.times else None
        text = bench_tables.shapes(found, costs, source=shown_path(options.shapes))
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
    from capturelint.debug.choices import settings_from

    return settings_from(
        {
            "dtype": options.dtype,
            "autocast": options.autocast,
            "seed": whole_number("--seed", options.seed, least=0, most=2**32 - 1),
            "capture_error_mode": options.capture_error_mode,
            "replays": _INPUTS,
        }
    )


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
    color = options.output is None and output.use_color(sys.stdout, no_color=options.no_color)
    return bench_text.render(found, color=color)
