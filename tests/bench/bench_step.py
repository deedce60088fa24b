"""Measure models of four kinds with `bench`, and a runner against a raw replay.

    python -m tests.bench.bench_step [--size full|tiny] [--only llama,prefill,resnet,moe,compiled,runner]
        [--output FOLDER] [--repeats N]

`full`: a Llama-like decode step of about 1 B parameters with a static key-value cache, and its
prefill of 4x512; a ResNet; a mixture of experts; a small decoder also under `torch.compile`; all with
random weights in bfloat16. `tiny`: the same code in small, which also runs on the simulator, by the
host's clock: its times say nothing. Prints the tables of each, and how long a runner takes against what
the GPU is busy, and against copies and a bare replay. With `--output` a JSON file for each model.

Each model is a case too: `BENCH_SIZE=tiny capturelint bench tests/bench/bench_step.py:llama`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

import capturelint
from capturelint.debug.backends import why_no_device
from capturelint.debug.settings import Settings
from capturelint.measure.bench.interleaved import timings
from capturelint.measure.bench.measuring import Edge, Measuring
from capturelint.measure.bench.meter import Meter
from capturelint.measure.bench.plan import Plan
from capturelint.measure.bench.result import Timing, Way
from capturelint.measure.bench.samples import percentile
from capturelint.report import bench_json, bench_text
from tests.bench.llama import Decoder, Size, inputs_of

# B batch, W width


# Rows that the cache has room for are the largest batch.
FULL = Size(16, 2048, 32, 8, 8192, 32000, 128, 512, "bfloat16", "buffers")
TINY = Size(2, 32, 4, 2, 64, 64, 8, 16, "float32", "buffers")
SIZE = TINY if os.environ.get("BENCH_SIZE") == "tiny" else FULL
DTYPE: torch.dtype = getattr(torch, SIZE.dtype)
BATCHES = (1, 2, 8) if SIZE is TINY else (1, 4, 32, 128)
PREFILL = (2,) if SIZE is TINY else (4,)
IMAGE = 32 if SIZE is TINY else 224  # pixels of a side
PROMPT, SHORT = (8, 8) if SIZE is TINY else (512, 16)  # tokens


class Block(nn.Module):
    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.first_norm = nn.BatchNorm2d(after)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.second_norm = nn.BatchNorm2d(after)
        self.short: nn.Module = nn.Identity()
        if stride > 1 or before != after:
            short = nn.Conv2d(before, after, 1, stride, bias=False)
            self.short = nn.Sequential(short, nn.BatchNorm2d(after))

    def forward(self, x: Tensor) -> Tensor:
        y = self.second_norm(self.second(functional.relu(self.first_norm(self.first(x)))))
        return functional.relu(y + self.short(x))


class Experts(nn.Module):
    """Two of eight experts for each row of x (B, W); all of them run, so that shapes are fixed."""

    def __init__(self, width: int, inner: int, *, experts: int = 8) -> None:
        super().__init__()
        self.router = nn.Linear(width, experts, bias=False)
        self.up = nn.Parameter(torch.randn(experts, width, inner) * width**-0.5)
        self.down = nn.Parameter(torch.randn(experts, inner, width) * inner**-0.5)

    def forward(self, x: Tensor) -> Tensor:
        scores, chosen = self.router(x).softmax(-1).topk(2, dim=-1)
        weights = torch.zeros_like(self.router(x)).scatter(1, chosen, scores)
        each = torch.bmm(
            functional.silu(torch.bmm(x.expand(len(self.up), -1, -1), self.up)), self.down
        )
        return torch.einsum("be,ebw->bw", weights, each)


def _tokens(seed: int, rows: int, length: int) -> Tensor:
    return torch.randint(SIZE.vocabulary, (rows, length), generator=_draw(seed))


def _draw(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _built(make: Callable[[], nn.Module]) -> nn.Module:
    # Random weights of a billion parameters take long on the host.
    with torch.device("cpu" if SIZE is TINY else "cuda"):
        return make().to(DTYPE).eval()


def llama() -> capturelint.Case:
    """Return a decode step, (B, 1) tokens with a cache."""
    model = _built(lambda: Decoder(SIZE))
    return capturelint.Case(model, inputs_of(SIZE), batch_dims=0, mode="inference")


def prefill() -> capturelint.Case:
    """Return a forward of whole prompts without a cache."""
    model = _built(lambda: Decoder(replace(SIZE, cache="none")))
    return capturelint.Case(
        model, lambda seed, batch_size: (_tokens(seed, batch_size, PROMPT),), batch_dims=0
    )


def _resnet() -> nn.Module:
    widths = (8, 16) if SIZE is TINY else (64, 128, 256, 512)
    blocks: list[nn.Module] = [nn.Conv2d(3, widths[0], 7, 2, 3, bias=False), nn.MaxPool2d(3, 2, 1)]
    before = widths[0]
    for width in widths:
        blocks += [Block(before, width, 1 if width == widths[0] else 2), Block(width, width, 1)]
        before = width
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000)]
    return nn.Sequential(*blocks, *head)


def resnet() -> capturelint.Case:
    """Return a small ResNet."""

    def inputs(seed: int, batch_size: int) -> tuple[Tensor]:
        shape = (batch_size, 3, IMAGE, IMAGE)
        return (torch.randn(shape, generator=_draw(seed)).to(DTYPE),)

    return capturelint.Case(_built(_resnet), inputs, batch_dims=0)


def moe() -> capturelint.Case:
    """Return four layers of experts, (B, W)."""
    model = _built(lambda: nn.Sequential(*(Experts(SIZE.width, SIZE.inner // 4) for _ in range(4))))

    def inputs(seed: int, batch_size: int) -> tuple[Tensor]:
        return (torch.randn(batch_size, SIZE.width, generator=_draw(seed)).to(DTYPE),)

    return capturelint.Case(model, inputs, batch_dims=0)


def compiled() -> capturelint.Case:
    """Return four layers of the decoder, to be measured under `torch.compile` as well."""
    model = _built(lambda: Decoder(replace(SIZE, layers=4, cache="none")))
    return capturelint.Case(
        model, lambda seed, batch_size: (_tokens(seed, batch_size, SHORT),), batch_dims=0
    )


CASES: dict[str, Callable[[], capturelint.Case]] = {
    "llama": llama,
    "prefill": prefill,
    "resnet": resnet,
    "moe": moe,
    "compiled": compiled,
}


def _measure(name: str, options: argparse.Namespace) -> None:
    """Print the tables of one model."""
    edge = _edge()
    plan = Plan(
        PREFILL if name == "prefill" else BATCHES,
        compiled=name == "compiled",
        repeats=options.repeats,
    )
    started = time.monotonic()
    with edge.backend.session():
        found = Measuring(edge, plan, Settings(replays=4), _say).bench(CASES[name], name)
    print(bench_text.render(found))
    print(f"({time.monotonic() - started:.0f} s in all)\n", flush=True)
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        path = options.output / f"{name}.json"
        path.write_text(bench_json.render(found) + "\n", encoding="utf-8")


def _runner(options: argparse.Namespace) -> None:
    """Print what a runner takes at batch 1, against the GPU's own time and against a bare replay."""
    edge = _edge()
    with edge.backend.session(), torch.inference_mode():
        case = llama()
        runner = capturelint.GraphRunner(case, (1,), backend=edge.backend)
        captured = runner.captured()
        rung = captured.rungs[1]
        inputs = edge.backend.place(case.inputs(3, batch_size=1))  # type: ignore[operator] # it is a function
        static = [value for value in rung.buffers.values if isinstance(value, Tensor)]

        def bare() -> object:
            for to, value in zip(static, inputs, strict=True):
                to.copy_(value)
            rung.graph.replay()
            output = rung.graph.output
            assert isinstance(output, Tensor)
            return output.clone()

        ways = {Way.EAGER: lambda _number: bare(), Way.GRAPH: lambda _number: runner(*inputs)}
        found = timings(ways, edge.meter, repeats=5 * options.repeats, warmup=20)
        rows = {
            name: _in_a_row(edge.meter, call)
            for name, call in (("bare", bare), ("runner", lambda: runner(*inputs)))
        }
        runner.close()
    _print_runner(found[Way.GRAPH], found[Way.EAGER], rows)


def _in_a_row(meter: Meter, call: Callable[[], object]) -> float:
    """Return ms of a step, of many without a wait between them."""
    before = meter.now()
    for _ in range(100):
        call()
    return (meter.now() - before) / 100


def _print_runner(runner: Timing, bare: Timing, rows: Mapping[str, float]) -> None:
    more = 1000 * (runner.step.p50 - bare.step.p50)
    print(
        f"runner at batch 1: {runner.step.p50:.4f} ms; copies and a bare replay {bare.step.p50:.4f} ms"
    )
    print(f"  {more:+.1f} us over the bare replay (at most 20 wanted)")
    issue = [1000 * percentile(one.issue, 0.5) for one in (runner, bare)]
    print(f"  the host issues it in {issue[0]:.1f} us, the bare replay in {issue[1]:.1f} us")
    if runner.activity is not None:
        busy = runner.activity.busy_ms
        print(
            f"  {runner.step.p50 / busy:.3f} of the {busy:.4f} ms that the GPU is busy (1.15 wanted)"
        )
    print(f"  one after another: {rows['runner']:.4f} ms, bare {rows['bare']:.4f} ms", flush=True)


def _edge() -> Edge:
    """Return the GPU, or the simulator for tiny models where there is none."""
    if not why_no_device():
        from capturelint.debug.cuda import CudaBackend
        from capturelint.measure.bench.cuda_meter import CudaMeter

        cuda = CudaBackend()
        return Edge(cuda, CudaMeter(), cuda.session)
    if SIZE is not TINY:
        sys.exit(f"no GPU: {why_no_device()}; --size tiny runs on the simulator")
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.measure.bench.made import HostMeter

    return Edge(SimulatedBackend(), HostMeter(), nullcontext)


def _say(text: str) -> None:
    print(f"  {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Run each model in a process of its own. Return 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--size", choices=("full", "tiny"), default="full")
    parser.add_argument("--only", default=",".join((*CASES, "runner")))
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    names = options.only.split(",")
    if len(names) == 1 and os.environ.get("BENCH_SIZE") == options.size:
        if names[0] == "runner":
            _runner(options)
        else:
            _measure(names[0], options)
        return 0
    given = ["--size", options.size, "--repeats", str(options.repeats)]
    given += [] if options.output is None else ["--output", str(options.output)]
    codes = []
    for name in names:
        print(f"== {name}", flush=True)
        command = [sys.executable, "-m", "tests.bench.bench_step", *given, "--only", name]
        environment = {"KINETO_LOG_LEVEL": "99", **os.environ, "BENCH_SIZE": options.size}
        codes.append(subprocess.run(command, env=environment, check=False).returncode)
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
