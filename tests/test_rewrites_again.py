"""Rewritten branches against the old ones on the CPU: a second judge, with other inputs and sizes."""

from __future__ import annotations

import random
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from capturelint.bundle import bundled
from tests.conftest import InFork
from tests.unit.rewrite.cases import classes

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

BEFORE = bundled("fixtures") / "rewrites" / "branches.py"
AFTER = BEFORE.with_suffix(".fixed.py")
OLD, NEW = (classes(path.read_text(encoding="utf-8")) for path in (BEFORE, AFTER))
CHANGED = [name for name in OLD if OLD[name] != NEW[name]]

SHAPES = ((4, 8), (1, 8), (7, 8))
SCALES = (1.0, 0.1, 3.0, 1e-3, 30.0, 1e15, 1e-30)
SHIFTS = (0.0, 0.3, -0.3, 0.2, 0.8, 1.5, -0.5, 100.0)
CONSTANTS = (0.0, 0.2, -0.2, 0.3, -0.5, 0.5, 0.8, 1.0, 1.5, 2.5, -2.0)
COUNT = 250


def _loaded(path: Path) -> Any:
    spec = spec_from_file_location(path.name.replace(".", "_"), path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _inputs(names: str, seed: int) -> list[Any]:
    import torch

    rng, generator = random.Random(seed), torch.Generator().manual_seed(seed)
    shape = rng.choice(SHAPES)
    x = torch.randn(shape, generator=generator) * rng.choice(SCALES) + rng.choice(SHIFTS)
    if rng.random() < 0.2:
        x = torch.full(shape, rng.choice(CONSTANTS))
    others = {
        "y": torch.randn(shape, generator=generator) * 3,
        "n": torch.randint(3, (), generator=generator),
    }
    return [x, *(others[name] for name in names)]


def _came(model: Any, given: list[Any]) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Return results and gradients."""
    import torch

    own = [t.clone().requires_grad_() if t.is_floating_point() else t for t in given]
    result = model(*own)
    results = result if isinstance(result, tuple) else (result,)
    wanted = [one for one in own if one.requires_grad]
    total = sum(one.sum() for one in results)
    return results, torch.autograd.grad(total, wanted, materialize_grads=True, allow_unused=True)


@pytest.mark.parametrize("name", CHANGED)
def test_other_inputs_tell_nothing_apart(name: str, in_fork: InFork) -> None:
    in_fork(lambda: _compare(name))


def _compare(name: str) -> None:
    import torch

    old, new = (getattr(_loaded(path), name)() for path in (BEFORE, AFTER))
    head = OLD[name].partition("def forward(self, x: Tensor")[2].partition(")")[0]
    names = "".join(one for one in "yn" if f"{one}: Tensor" in head)

    for seed in range(COUNT):
        given = _inputs(names, seed)
        (ours, slopes), (theirs, others) = _came(old, given), _came(new, given)
        for one, other in zip(ours, theirs, strict=True):
            assert (one.dtype, one.stride()) == (other.dtype, other.stride()), seed
            assert torch.equal(one.nan_to_num(7.0), other.nan_to_num(7.0)), seed
        for one, other in zip(slopes, others, strict=True):
            assert torch.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True), seed
