"""Time the capture simulator and a whole bisect beside plain eager runs on the CPU.

    python -m tests.bench.bench_bisect [transformer] [resnet] [--rounds 5] [--threads 1]

Prints, per model, medians of CPU seconds of one forward: eager on the CPU, eager on the simulated
device, capture, replay; each also as a ratio to the first, all measured turn and turn about in one
process. Then one whole `capturelint bisect` of the same model in a process of its own: CPU seconds,
root forwards, attempts, and the peak of its memory over that of a process that only runs the model
eagerly on the simulated device, also as a share of the model's parameters and buffers.
It is no test: nothing here is asserted, since a machine's speed is not ours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from capturelint.debug.backend import Captured
from capturelint.debug.simulated import SimulatedBackend

ROOT = Path(__file__).parents[2]
MIB = 2**20


def transformer() -> tuple[nn.Module, Callable[[int], tuple[Tensor, ...]]]:
    """Return 12 layers on x: (1, 256, 512) float32."""
    torch.backends.mha.set_fastpath_enabled(False)  # one fused operation is nothing to bisect
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
    return model.eval(), lambda seed: (_normal(seed, 1, 256, 512),)


def resnet() -> tuple[nn.Module, Callable[[int], tuple[Tensor, ...]]]:
    """Return a residual network on x: (4, 3, 96, 96) float32."""
    from tests.hosts import ResNet

    return ResNet(width=32, depth=4).eval(), lambda seed: (_normal(seed, 4, 3, 96, 96),)


MODELS = {"transformer": transformer, "resnet": resnet}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=list(MODELS), metavar="MODEL")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only-eager", metavar="MODEL", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    if options.only_eager:
        run_eagerly(options.only_eager)
        return 0
    for name in options.models:
        print(forwards(name, options.rounds))
        print(whole(name, options.threads))
    return 0


def forwards(name: str, rounds: int) -> str:
    """Return one line about single forwards of a model."""
    plain, inputs = MODELS[name]()
    with torch.no_grad():
        for seed in range(2):
            plain(*inputs(seed))
        costs = [_round(name, plain, seed) for seed in range(rounds)]
    medians = {step: statistics.median(cost[step] for cost in costs) for step in costs[0]}
    parts = [
        f"{step} {seconds:.3f} s ({seconds / medians['eager']:.2f}x)"
        for step, seconds in medians.items()
    ]
    return f"{name}: {', '.join(parts)}; CPU seconds, median of {rounds}"


def _round(name: str, plain: nn.Module, seed: int) -> dict[str, float]:
    """Return CPU seconds of each step, once."""
    model, inputs = MODELS[name]()
    eager = _seconds(partial(plain, *inputs(seed)))
    backend = SimulatedBackend()
    with backend.session():
        run = partial(backend.place(model), *backend.place(inputs(seed)))
        with backend.warming_up():
            run()
        simulated = _seconds(run)
        graphs: list[Captured] = []
        capture = _seconds(lambda: graphs.append(backend.capture(run)))
        replay = _seconds(graphs[0].replay)
        graphs[0].close()
    return {"eager": eager, "simulated": simulated, "capture": capture, "replay": replay}


def whole(name: str, threads: int) -> str:
    """Return one line about a bisect of a model."""
    this = Path(__file__)
    bisect = ["-m", "capturelint", "bisect", f"{this}:{name}", "--backend", "simulated"]
    seconds, peak, output = _run([*bisect, "--format", "json"], threads)
    _, least, _ = _run(
        ["-m", "tests.bench.bench_bisect", "--only-eager", name, "--threads", str(threads)], threads
    )
    found = json.loads(output)
    timings = found["timings"]
    model, _ = MODELS[name]()
    size = sum(part.nbytes for part in (*model.parameters(), *model.buffers())) / MIB
    extra = peak - least
    return (
        f"{name}, whole bisect: {found['verdict']}, {seconds:.1f} CPU s, "
        f"{timings.get('forwards', '?')} root forwards, {timings.get('attempts', '?')} attempts, "
        f"{len(found['modules'])} modules judged; memory {peak:.0f} MiB at the peak, "
        f"{extra:.0f} more than eager, {extra / size:.2f} of the model's {size:.0f}; "
        f"timings {timings}"
    )


def run_eagerly(name: str) -> None:
    """Run a model twice on the simulated device, for the memory that it takes."""
    backend = SimulatedBackend()
    with backend.session(), torch.no_grad():
        model, inputs = MODELS[name]()
        placed = backend.place(model)
        for seed in range(2):
            placed(*backend.place(inputs(seed)))


def _seconds(call: Callable[[], object]) -> float:
    started = time.process_time()
    call()
    return time.process_time() - started


def _run(arguments: Sequence[str], threads: int) -> tuple[float, float, bytes]:
    """Run Python; return CPU seconds and MiB at the peak, children included, and its output."""
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        env={**os.environ, "OMP_NUM_THREADS": str(threads), "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None, "its output is a pipe"
    output = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def _normal(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


if __name__ == "__main__":
    sys.exit(main())
