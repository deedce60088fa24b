"""Measure the device memory that a bisect takes above an eager run of the same model.

    python -m tests.bench.bench_memory [--size tiny|100m|1b] [--cache argument|buffers|fresh ...]
        [--hazards 0 1 3] [--backend auto|cuda|simulated] [--profile] [--batch N] [--length N] ...

Prints a line for each run of `capturelint bisect` on a decoder like Llama with a static cache:
attempts, seconds, and the peak of memory in MiB, also above an eager run in a process of its own and
as a share of the model. On a GPU that is what the device has in use, polled from outside, so nothing
else may run there. On the simulator it is the peak of resident memory, which only stands in for it.
`--profile` also runs each once in one process and prints the peak of torch's allocator by stage of
the run, in the order in which stages first came, above what the model holds.
It is no test: nothing here is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from tests.bench.llama import SIZES, Size, decoder, inputs_of
from tests.bench.memory import MIB, Polled, Resident, resident

ROOT = Path(__file__).parents[2]
_SIZE = "CAPTURELINT_BENCH_MEMORY"  # the size, for a child process
_CASE = f"{Path(__file__).relative_to(ROOT)}:make"
_CALLS = 7  # of an eager run: as many as a bisect compares
_CHANGED = tuple(field.name for field in fields(Size) if field.type == "int")


def make() -> tuple[nn.Module, Callable[[int], tuple[object, ...]]]:
    """Return the case that the environment asks for."""
    size = Size(**json.loads(os.environ[_SIZE]))
    return decoder(size), inputs_of(size)


@dataclass(frozen=True, slots=True)
class Run:
    """One process. `peak`: MiB. `output`: what it printed."""

    peak: float
    seconds: float
    output: bytes


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", choices=list(SIZES), default="tiny")
    for name in _CHANGED:
        if name != "hazards":
            parser.add_argument(f"--{name}", type=int, metavar="N")
    parser.add_argument(
        "--cache", nargs="+", choices=["argument", "buffers", "fresh"], default=["argument"]
    )
    parser.add_argument("--hazards", nargs="+", type=int, choices=[0, 1, 3], default=[0, 1, 3])
    parser.add_argument("--backend", choices=["auto", "cuda", "simulated"], default="auto")
    parser.add_argument("--profile", action="store_true")
    parser.add_argument("--inside", choices=["eager", "profile"], help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.inside is not None:
        return inside(options.inside, options.backend)
    changed = {name: value for name in _CHANGED if (value := getattr(options, name)) is not None}
    changed.pop("hazards")
    size = replace(SIZES[options.size], **changed)
    backend = _backend(options.backend)
    for cache in options.cache:
        _measure(replace(size, cache=cache), options.hazards, backend, profile=options.profile)
    return 0


def _measure(size: Size, hazards: Sequence[int], backend: str, *, profile: bool) -> None:
    eager = _run(["-m", "tests.bench.bench_memory", "--inside", "eager"], size, backend)
    weights = float(eager.output.split()[-1])
    kind = "device memory" if backend == "cuda" else "resident memory (a stand-in)"
    print(f"\ncache as {size.cache}: model {weights:.0f} MiB, eager {eager.peak:.0f} MiB, {kind}")
    print(
        _ROW.format("hazards", "verdict", "lines", "attempts", "seconds", "peak", "above", "share")
    )
    for count in hazards:
        one = replace(size, hazards=count)
        run = _run(["-m", "capturelint", "bisect", _CASE, "--format", "json"], one, backend)
        found = json.loads(run.output)
        above = run.peak - eager.peak
        print(
            _ROW.format(
                count,
                found["verdict"],
                len(found["culprits"]),
                int(found["timings"].get("attempts", 0)),
                f"{found['timings'].get('seconds', run.seconds):.1f}",
                f"{run.peak:.0f}",
                f"{above:.0f}",
                f"{above / weights:.1%}",
            ),
            flush=True,
        )
        if profile:
            command = ["-m", "tests.bench.bench_memory", "--inside", "profile"]
            print(_run(command, one, backend).output.decode(), flush=True)


_ROW = "{:>7} {:>18} {:>6} {:>8} {:>8} {:>8} {:>8} {:>7}"


def _backend(name: str) -> str:
    if name != "auto":
        return name
    return "cuda" if torch.cuda.is_available() else "simulated"


def _run(arguments: Sequence[str], size: Size, backend: str) -> Run:
    """Run Python on a case of `size`, and watch its memory."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, _SIZE: json.dumps(asdict(size)), "PYTHONPATH": path}
    started = time.monotonic()
    with Polled() if backend == "cuda" else Resident() as memory:
        process = subprocess.Popen(
            [sys.executable, *arguments, "--backend", backend],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            env=environment,
        )
        output, _ = process.communicate()
    if not output:
        raise SystemExit(
            f"{' '.join(arguments)} printed nothing and ended with {process.returncode}"
        )
    return Run(memory.peak, time.monotonic() - started, output)


def inside(what: str, backend: str) -> int:
    """Run eagerly, or judge, in this process, and print what that takes."""
    return _eager(backend) if what == "eager" else _profile(backend)


def _eager(name: str) -> int:
    """Run a model some times, and print the MiB of its parameters."""
    backend = _made(name)
    with backend.session(), torch.inference_mode():
        model, inputs = make()
        for step in range(_CALLS):
            model(*backend.place(inputs(step)))
        print(sum(one.nbytes for one in model.parameters()) / MIB)
    return 0


def _made(name: str) -> Any:
    from capturelint.debug.backends import chosen
    from capturelint.debug.settings import Settings

    return chosen(Settings(backend=name))[0]


def _profile(name: str) -> int:
    """Judge in this process, and print what each stage of the run takes."""
    from capturelint.debug.cases.loading import load
    from capturelint.debug.processes.worker import Tools, judged
    from capturelint.debug.settings import Settings

    stages = _Stages(is_on_device=name == "cuda")
    settings = Settings(backend=name)
    case = load(_CASE, inputs=None, call=None, settings=settings)
    judged(case, settings, {}, stages.hear, tools=Tools())
    stages.hear(None)
    print(stages.table())
    return 0


class _Stages:
    """The peak of memory in each stage of a run, as its events tell of them."""

    def __init__(self, *, is_on_device: bool) -> None:
        self._is_on_device = is_on_device
        self._stage = "start"
        self._peaks: dict[str, list[float]] = {}  # allocated, reserved, how often

    def hear(self, event: object) -> None:
        """Close the stage that an event ends. None ends the run."""
        step = getattr(event, "step", None)
        if event is not None and step is None:
            return
        allocated, reserved = self._taken()
        kept = self._peaks.setdefault(self._stage, [0.0, 0.0, 0.0])
        kept[:] = max(kept[0], allocated), max(kept[1], reserved), kept[2] + 1
        is_start = type(event).__name__ == "Started"
        self._stage = _stage_of(step) if is_start and step is not None else "between"

    def table(self) -> str:
        """Return a line for each stage."""
        head = (
            "allocated  reserved  times  stage" if self._is_on_device else "resident  times  stage"
        )
        lines = [f"  {head}  (MiB at the peak; levels are by depth of the module)"]
        for stage, (allocated, reserved, times) in self._peaks.items():
            figures = (
                f"{allocated:9.0f} {reserved:9.0f}" if self._is_on_device else f"{reserved:8.0f}"
            )
            lines.append(f"  {figures}  {times:5.0f}  {stage}")
        return "\n".join(lines)

    def _taken(self) -> tuple[float, float]:
        if not self._is_on_device:
            return 0.0, resident("self")
        if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call] # torch leaves it so
            return 0.0, 0.0
        taken = torch.cuda.max_memory_allocated() / MIB, torch.cuda.max_memory_reserved() / MIB
        torch.cuda.reset_peak_memory_stats()
        return taken


def _stage_of(step: str) -> str:
    """Return the kind of a step, and how deep its module lies: `judge, level 2`."""
    for kind in ("judge", "record", "own"):
        if step == kind or step.startswith(f"{kind} "):
            path = step[len(kind) :].strip().partition(" ")[0]
            depth = sum(not part.isdigit() for part in path.split(".")) if path else 0
            return f"{kind}, level {depth}"
    return step or "load"


if __name__ == "__main__":
    sys.exit(main())
