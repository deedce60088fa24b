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
from dataclasses import dataclass
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

# B batch, S tokens of a call, T tokens of the cache, W width, H heads, K key-value heads, D of a head


@dataclass(frozen=True, slots=True)
class Sizes:
    """How large a model is. `most`: rows that the cache has room for."""

    layers: int
    width: int
    inner: int
    heads: int
    kv_heads: int
    words: int
    tokens: int
    most: int
    image: int
    prompt: int


FULL = Sizes(16, 2048, 8192, 32, 8, 32000, 512, 128, 224, 512)
TINY = Sizes(2, 32, 64, 4, 2, 64, 16, 8, 32, 8)
SIZES = TINY if os.environ.get("BENCH_SIZE") == "tiny" else FULL
DTYPE = torch.float32 if SIZES is TINY else torch.bfloat16
BATCHES = (1, 2, 8) if SIZES is TINY else (1, 4, 32, 128)
PREFILL = (2,) if SIZES is TINY else (4,)


class Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)
        return self.weight * (x * scale.to(x.dtype))


class Attention(nn.Module):
    """Attention of x (B, S, W). With a cache S is 1, and `positions` (B,) tells where it is written."""

    def __init__(self, sizes: Sizes, *, has_cache: bool) -> None:
        super().__init__()
        self.heads, self.kv_heads = sizes.heads, sizes.kv_heads
        self.size = sizes.width // sizes.heads
        self.query = nn.Linear(sizes.width, sizes.width, bias=False)
        self.keys = nn.Linear(sizes.width, sizes.kv_heads * self.size, bias=False)
        self.values = nn.Linear(sizes.width, sizes.kv_heads * self.size, bias=False)
        self.out = nn.Linear(sizes.width, sizes.width, bias=False)
        self.cached_keys: Tensor
        self.cached_values: Tensor
        self.rows: Tensor
        if has_cache:
            shape = (sizes.most, sizes.tokens, sizes.kv_heads, self.size)
            self.register_buffer("cached_keys", torch.zeros(shape))
            self.register_buffer("cached_values", torch.zeros(shape))
            self.register_buffer("rows", torch.arange(sizes.most))
        self.has_cache = has_cache

    def forward(self, x: Tensor, positions: Tensor | None, mask: Tensor | None) -> Tensor:
        batch, length, width = x.shape
        query = self.query(x).view(batch, length, self.heads, self.size)
        keys = self.keys(x).view(batch, length, self.kv_heads, self.size)
        values = self.values(x).view(batch, length, self.kv_heads, self.size)
        if self.has_cache and positions is not None:
            place = (self.rows[:batch], positions)
            self.cached_keys.index_put_(place, keys[:, 0])
            self.cached_values.index_put_(place, values[:, 0])
            keys, values = self.cached_keys[:batch], self.cached_values[:batch]
        repeats = self.heads // self.kv_heads
        heads = functional.scaled_dot_product_attention(
            query.transpose(1, 2),
            keys.repeat_interleave(repeats, dim=2).transpose(1, 2),
            values.repeat_interleave(repeats, dim=2).transpose(1, 2),
            attn_mask=mask,
            is_causal=mask is None,
        )
        result: Tensor = self.out(heads.transpose(1, 2).reshape(batch, length, width))
        return result


class Layer(nn.Module):
    def __init__(self, sizes: Sizes, *, has_cache: bool) -> None:
        super().__init__()
        self.before = Norm(sizes.width)
        self.attention = Attention(sizes, has_cache=has_cache)
        self.between = Norm(sizes.width)
        self.gate = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.up = nn.Linear(sizes.width, sizes.inner, bias=False)
        self.down = nn.Linear(sizes.inner, sizes.width, bias=False)

    def forward(self, x: Tensor, positions: Tensor | None, mask: Tensor | None) -> Tensor:
        x = x + self.attention(self.before(x), positions, mask)
        y = self.between(x)
        result: Tensor = x + self.down(functional.silu(self.gate(y)) * self.up(y))
        return result


class Decoder(nn.Module):
    """From tokens (B, S), and positions (B,) where there is a cache, to logits (B, words)."""

    def __init__(self, sizes: Sizes, *, has_cache: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(sizes.words, sizes.width)
        self.layers = nn.ModuleList(Layer(sizes, has_cache=has_cache) for _ in range(sizes.layers))
        self.norm = Norm(sizes.width)
        self.head = nn.Linear(sizes.width, sizes.words, bias=False)
        self.places: Tensor
        self.register_buffer("places", torch.arange(sizes.tokens))

    def forward(self, tokens: Tensor, positions: Tensor | None = None) -> Tensor:
        mask = None
        if positions is not None:
            mask = (self.places <= positions[:, None])[:, None, None]
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, positions, mask)
        result: Tensor = self.head(self.norm(x[:, -1]))
        return result


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
    return torch.randint(SIZES.words, (rows, length), generator=_draw(seed))


def _draw(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def _built(make: Callable[[], nn.Module]) -> nn.Module:
    # Random weights of a billion parameters take long on the host.
    with torch.device("cpu" if SIZES is TINY else "cuda"):
        return make().to(DTYPE).eval()


def llama() -> capturelint.Case:
    """Return a decode step, (B, 1) tokens with a cache."""

    def inputs(seed: int, batch_size: int) -> tuple[Tensor, Tensor]:
        positions = torch.randint(SIZES.tokens, (batch_size,), generator=_draw(seed + 1))
        return _tokens(seed, batch_size, 1), positions

    model = _built(lambda: Decoder(SIZES, has_cache=True))
    return capturelint.Case(model, inputs, batch_dims=0, mode="inference")


def prefill() -> capturelint.Case:
    """Return a forward of whole prompts without a cache."""
    model = _built(lambda: Decoder(SIZES, has_cache=False))
    return capturelint.Case(
        model, lambda seed, batch_size: (_tokens(seed, batch_size, SIZES.prompt),), batch_dims=0
    )


def _resnet() -> nn.Module:
    widths = (8, 16) if SIZES is TINY else (64, 128, 256, 512)
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
        shape = (batch_size, 3, SIZES.image, SIZES.image)
        return (torch.randn(shape, generator=_draw(seed)).to(DTYPE),)

    return capturelint.Case(_built(_resnet), inputs, batch_dims=0)


def moe() -> capturelint.Case:
    """Return four layers of experts, (B, W)."""
    model = _built(
        lambda: nn.Sequential(*(Experts(SIZES.width, SIZES.inner // 4) for _ in range(4)))
    )

    def inputs(seed: int, batch_size: int) -> tuple[Tensor]:
        return (torch.randn(batch_size, SIZES.width, generator=_draw(seed)).to(DTYPE),)

    return capturelint.Case(model, inputs, batch_dims=0)


def compiled() -> capturelint.Case:
    """Return four layers of the decoder, to be measured under `torch.compile` as well."""
    small = Sizes(*(4 if name == "layers" else getattr(SIZES, name) for name in Sizes.__slots__))
    model = _built(lambda: Decoder(small, has_cache=False))
    length = 8 if SIZES is TINY else 16
    return capturelint.Case(
        model, lambda seed, batch_size: (_tokens(seed, batch_size, length),), batch_dims=0
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
    if SIZES is not TINY:
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
