"""The simulator does with every example and form what a GPU did, but for what is known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from capturelint.bundle import bundled

_ROOT = Path(__file__).parents[1]

_BUILT_WITHOUT = "a torch that is built without CUDA has no types of it"

# By cause, the examples and the pieces of code that it explains.
KNOWN: Mapping[str, tuple[str, ...]] = {
    "the simulator computes while it captures, so that an output holds values before a replay": (
        "CL902 bad_item",
        "CL902 bad_never_replayed",
        "CL902 bad_comparison",
        "CL902 bad_capture_begin",
        "CL902 BadFirstCall",
        "CL902 bad_stored_in_a_tensor",
        "CL902 bad_printed",
    ),
    "the simulator keeps what autocast has cast for as long as the graph": (
        "CL903 bad_warmup_in_the_same_context",
        "CL903 bad_eager_afterwards",
    ),
    "the simulator knows of no stream of gradients": ("CL704 bad_default_stream",),
    "the simulator cannot tell of `DistributedDataParallel`": (
        "CL704 bad_parallel",
        "CL704 good_parallel_on_a_side_stream",
    ),
    "the simulator captures in the mode `global` alone": ("CL901 good_relaxed",),
    _BUILT_WITHOUT: ("torch.cuda.FloatTensor: x * torch.cuda.FloatTensor([2.0])",),
    "without a GPU there is no NCCL, and no `range` on it": (
        "CL701 BadBarrier",
        "CL701 BadObjects",
        "CL701 GoodAllReduce",
        "CL701 GoodGroupOfTheHost",
        "CL901 good_collective",
        "torch.range: torch.range(0, n, device=x.device).sum() * x",
    ),
    "the simulator captures on a stream of its own, not on the one that is given": (
        "CL702 good_region_on_the_stream",
    ),
    "the allocator had memory for the stream, so that CUDA saw no allocation to refuse": (
        "CL702 bad_region",
    ),
    "the simulator runs compiled code as it was before": ("CL803 bad_backend",),
    "a remainder by zero raises on the host only": ("CL101 good_round_and_abs",),
}


# Of all, and of one in ten of them: the whole takes minutes.
@pytest.mark.slow
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.sweep(0))])
@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_simulator_does_what_the_gpu_did_but_for_the_known(every: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.record.simulated", str(every)],
        capture_output=True,
        text=True,
        check=False,
        cwd=_ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = {_name(line): line["outcome"] for line in map(json.loads, done.stdout.splitlines())}
    measured = {_name(line): line["outcome"] for line in _measured()}
    others = [name for name in found if found[name] != measured.get(name, found[name])]

    known = _known()
    assert len(found.keys() & measured.keys()) > 1000 // every
    assert sorted(others) == sorted(name for name in known if name in found)
    assert every > 1 or not set(known) - set(found)


def _known() -> list[str]:
    import torch

    is_built_with = torch.version.cuda is not None
    causes = [cause for cause in KNOWN if cause != _BUILT_WITHOUT or not is_built_with]
    return [name for cause in causes for name in KNOWN[cause]]


def _measured() -> list[dict[str, Any]]:
    folder = bundled("fixtures") / "measured"
    return [
        json.loads(line)
        for name in ("fixtures.jsonl", "operations.jsonl")
        for line in (folder / name).read_text(encoding="utf-8").splitlines()
    ]


def _name(line: Mapping[str, str]) -> str:
    if "rule" in line:
        return f"{line['rule']} {line['example']}"
    return f"{line['op']}: {line['code']}"
