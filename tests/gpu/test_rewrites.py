"""Rewritten examples on a device: they replay equal, forward and backward, and are found there too."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from capturelint.debug.api import bisect
from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.rewrite.prove import bisect_and_rewrite
from capturelint.verdict import Verdict
from tests.unit.rewrite.cases import Example, classes, examples

CHANGED = [one for one in examples() if one.is_rewritten]
# One of each pattern: proving takes seconds for each.
PROVEN = [
    one
    for one in CHANGED
    if one.name in ("Gate", "MaskAug", "MaskSumMean", "FixedPoint", "ItemArith", "InplaceArg")
]
_COUNT = 6


def _named(example: Example) -> str:
    return example.name


@pytest.mark.parametrize("example", CHANGED, ids=_named)
def test_what_was_rewritten_replays_equal(example: Example) -> None:
    target = f"{example.fixed}:{example.name}"
    inputs = f"{example.fixed}:{example.inputs}"
    report = bisect(target, inputs=inputs, backend="cuda", train=example.trains)

    assert not report.verdict.is_failure, (report.verdict, report.culprits)
    assert report.verdict is not Verdict.UNDECIDED


@pytest.mark.parametrize("example", PROVEN, ids=_named)
def test_the_same_is_written_as_on_the_simulator(example: Example) -> None:
    settings = Settings(backend="cuda", train=example.trains)
    request = Request(
        f"{example.path}:{example.name}", settings, f"{example.path}:{example.inputs}"
    )
    report = bisect_and_rewrite(request, resume=False, progress=None)
    (rewrite,) = report.rewrites
    shown = classes(example.fixed.read_text(encoding="utf-8"))

    assert classes(rewrite.text)[example.name] == shown[example.name]
    is_timed = any(note.startswith("an eager step of the case takes ") for note in rewrite.notes)
    assert is_timed == (example.name != "ItemArith")


def _made(path: Path) -> Any:
    spec = spec_from_file_location(path.name.replace(".", "_"), path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# The eager steps to compare with run on another stream than the warm-up.
@pytest.mark.filterwarnings("ignore:The AccumulateGrad node's stream")
@pytest.mark.parametrize("example", [one for one in CHANGED if one.trains], ids=_named)
def test_forward_and_backward_replay_equal(example: Example) -> None:
    import torch

    module = _made(example.fixed)
    model = getattr(module, example.name)().train().cuda()
    make = getattr(module, example.inputs)
    given = [one.cuda() for one in make(0)]
    leaves = [one.requires_grad_() for one in given if one.is_floating_point()]
    wanted = [*leaves, *model.parameters()]

    def step() -> list[Any]:
        results = model(*(one * 1 if one.is_floating_point() else one for one in given))
        results = results if isinstance(results, tuple) else (results,)
        total = sum(one.float().sum() for one in results)
        found = torch.autograd.grad(total, wanted, allow_unused=True, materialize_grads=True)
        return [*results, *found]

    stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call] # as torch has it
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        static = step()
    for seed in range(1, _COUNT + 1):
        with torch.no_grad():
            for one, new in zip(given, make(seed), strict=True):
                one.copy_(new)
        graph.replay()
        came = [one.detach().clone() for one in static]
        for one, other in zip(came, step(), strict=True):
            assert torch.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True), seed
