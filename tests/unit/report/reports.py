"""Reports made by hand, for tests of what is printed of them."""

from __future__ import annotations

from pathlib import Path

from capturelint.finding import Effect
from capturelint.verdict import (
    Certainty,
    Culprit,
    Evidence,
    Frozen,
    Hazard,
    ModuleVerdict,
    Place,
    Report,
    Verdict,
)

NOT_PERMITTED = "CUDA error: operation not permitted when stream is capturing"


def here(line: int, source: str, *, file: str = "model.py") -> Place:
    """Return a place in a file of the working directory."""
    return Place(str(Path.cwd() / file), line, "Model.forward", source)


def module(path: str, verdict: Verdict, cls: str = "Block", *, why: str = "") -> ModuleVerdict:
    return ModuleVerdict(path, cls, verdict, 1, why)


def reading(module: str) -> Culprit:
    """Return a culprit that reads a value on the host."""
    return Culprit(
        module,
        "Attention",
        here(57, "        n = x.max().item()"),
        "aten::_local_scalar_dense",
        Effect.REFUSES,
        Certainty.SHOWN,
        f"{NOT_PERMITTED}\nCompile with `TORCH_USE_CUDA_DSA`",
        "CL101",
        Evidence(exception=f"AcceleratorError: {NOT_PERMITTED}\nCompile with"),
    )


def counting(module: str) -> Culprit:
    """Return a culprit whose counter is baked in."""
    used, cause = here(9, "return x * self.step"), here(8, "self.step += 1")
    return Culprit(
        module,
        "Counter",
        used,
        "aten::mul",
        Effect.STALE,
        Certainty.SHOWN,
        "the number 3 is part of the graph",
        evidence=Evidence(
            replay=2,
            output="[0].logits",
            difference=0.03125,
            tolerance=1e-5,
            dtype="float32",
            frozen=(Frozen(used, "aten::mul", "3", "4", cause, "self.step"),),
        ),
    )


def passing(*, backend: str = "simulated") -> Report:
    return Report(
        "case.py:make",
        backend,
        Verdict.EQUAL,
        (module("", Verdict.EQUAL, "Model"),),
        environment={"torch": "2.13.0", "device": "none"},
        timings={"attempts": 1, "forwards": 12, "replays": 6, "total": 1.25},
    )


def failing() -> Report:
    """Return a report of two layers that read, a counter, and a kernel that is not simulated."""
    layers = [
        one
        for layer in ("layers.0", "layers.1")
        for one in (
            module(layer, Verdict.REFUSES, "Layer"),
            module(f"{layer}.attention", Verdict.REFUSES, "Attention"),
            module(f"{layer}.mlp", Verdict.EQUAL),
        )
    ]
    return Report(
        "case.py:make",
        "simulated",
        Verdict.REFUSES,
        (
            module("", Verdict.REFUSES, "Model"),
            *layers,
            module("counter", Verdict.STALE, "Counter"),
            module("moe", Verdict.UNDECIDED, "MoE", why="operator ours::moe cannot be simulated"),
        ),
        (reading("layers.0.attention"), reading("layers.1.attention"), counting("counter")),
        (
            Hazard(
                here(57, "n = x.max().item()"),
                "layers.0.attention",
                "aten::_local_scalar_dense",
                Effect.REFUSES,
                NOT_PERMITTED,
                calls=2,
            ),
            Hazard(here(70, "if x.any():"), "", "aten::is_nonzero", Effect.REFUSES, "m", "CL401"),
        ),
        ("held: tokens (integers are not redrawn)",),
        {"torch": "2.13.0", "device": "none"},
        {"attempts": 31, "forwards": 12, "replays": 6, "total": 4.21},
    )
