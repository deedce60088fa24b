"""Rewritten examples against the old ones on the CPU: a second judge, with inputs of its own."""

from __future__ import annotations

import copy
import random
import warnings
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import InFork
from tests.unit.rewrite.cases import Example, examples

pytestmark = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

CHANGED = [one for one in examples() if one.is_rewritten]
SCALES = (1.0, 0.1, 3.0, 1e-3, 30.0, 1e15, 1e-30)
SHIFTS = (0.0, 0.3, -0.3, 0.2, 0.8, 1.5, -0.5, 100.0)
CONSTANTS = (0.0, 0.2, -0.2, 0.3, -0.5, 0.5, 0.8, 1.0, 1.5, 2.5, -2.0)
SPOILT = (float("nan"), float("inf"), float("-inf"), 1e30)
COUNT = 150


def _loaded(path: Path) -> Any:
    spec = spec_from_file_location(path.name.replace(".", "_"), path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _changed(given: Any, rng: random.Random, *, is_finite: bool) -> Any:
    """Return a tensor with other contents: scaled, shifted, constant, flipped, with an odd element."""
    import torch

    if given.dtype is torch.bool:
        return rng.choice((given, ~given, given & False, given | True))
    if not given.is_floating_point():
        return given
    found = given * rng.choice(SCALES[: 5 if is_finite else None]) + rng.choice(SHIFTS)
    if rng.random() < 0.2:
        found = torch.full_like(given, rng.choice(CONSTANTS))
    if not is_finite and found.numel() and rng.random() < 0.3:
        found.view(-1)[rng.randrange(found.numel())] = rng.choice(SPOILT)
    return found


def _came(model: Any, given: list[Any]) -> list[Any]:
    """Return results, arguments as they are left and state; or the type of what is raised."""
    import torch

    own = [one.clone() for one in given]
    try:
        with torch.no_grad():
            result = model(*own)
    except Exception as error:  # noqa: BLE001 - the other must raise the same
        return [type(error).__name__]
    results = result if isinstance(result, tuple) else (result,)
    return [*results, *own, *model.state_dict().values()]


def _slopes(model: Any, given: list[Any]) -> list[Any]:
    import torch

    own = [one.clone().requires_grad_() if one.is_floating_point() else one for one in given]
    wanted = [one for one in (*own, *model.parameters()) if one.requires_grad]
    result = model(*(one * 1 if one.is_floating_point() else one for one in own))
    results = result if isinstance(result, tuple) else (result,)
    floating = [one for one in results if one.requires_grad]
    if not floating:
        return []
    total = sum((one.double() * 0.7).sum() for one in floating)
    return list(torch.autograd.grad(total, wanted, materialize_grads=True, allow_unused=True))


def _exact_slopes(old: Any, new: Any, given: list[Any]) -> tuple[list[Any], list[Any]]:
    """In float64 where the old code runs so: sums of large numbers that cancel lose all digits of float32."""
    wide = [one.double() if one.is_floating_point() else one for one in given]
    try:
        ours = _slopes(copy.deepcopy(old).double(), wide)
    except RuntimeError:  # types that the code names itself
        return _slopes(old, given), _slopes(new, given)
    return ours, _slopes(new.double(), wide)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("example", CHANGED, ids=lambda one: one.name)
def test_other_inputs_tell_nothing_apart(example: Example, in_fork: InFork) -> None:
    in_fork(lambda: _compare(example))


def _compare(example: Example) -> None:
    warnings.simplefilter("ignore")  # old code may read what has gradients
    modules = [_loaded(path) for path in (example.path, example.fixed)]
    first, second = (getattr(one, example.name)().train(example.trains) for one in modules)
    make = getattr(modules[0], example.inputs)
    for seed in range(COUNT):
        rng = random.Random(seed)
        is_finite = seed % 2 == 0
        given = [_changed(one, rng, is_finite=is_finite) for one in make(1000 + seed)]
        came = _came(first, given)
        if example.is_unsafe and isinstance(came[0], str):
            continue  # it need not raise any more
        _check(came, _came(second, given), seed)
        if is_finite:
            # A call may leave state behind.
            old, new = copy.deepcopy(first), copy.deepcopy(second)
            ours, theirs = _exact_slopes(old, new, given)
            if ours:
                _check(ours, theirs, seed)
            else:  # no result had gradients: those that it has now must be zero
                assert not any(one.any() for one in theirs if one is not None), seed


def _check(ours: list[Any], theirs: list[Any], seed: int) -> None:
    import torch

    assert len(ours) == len(theirs), seed
    for one, other in zip(ours, theirs, strict=True):
        if not isinstance(one, torch.Tensor):
            assert one == other, seed
            continue
        assert (one.dtype, one.shape, one.stride()) == (other.dtype, other.shape, other.stride()), (
            seed
        )
        assert torch.allclose(one, other, rtol=1e-4, atol=1e-6, equal_nan=True), seed
