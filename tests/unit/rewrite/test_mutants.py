"""Changed inputs: the same each time, alike in all but their numbers, and leaving the old ones be."""

from __future__ import annotations

import ast

import pytest

torch = pytest.importorskip("torch")

from capturelint.debug.attempts.part import Call  # noqa: E402 - needs torch
from capturelint.rewrite.proof.mutants import constants_in, is_bounded, mutants  # noqa: E402


def test_inputs_are_changed_alike_each_time_and_the_old_ones_stay() -> None:
    x, mask, count = torch.rand(3, 2), torch.tensor([True, False]), torch.tensor([3, 1])
    calls = (Call((x, {"mask": mask}), {"count": count}),)
    kept = [one.clone() for one in (x, mask, count)]

    first, second = (list(mutants(calls, (0.0, 0.7), 1)) for _ in range(2))

    assert all(torch.equal(*pair) for pair in zip(kept, (x, mask, count), strict=True))
    for (name, (one,)), (again, (other,)) in zip(first, second, strict=True):
        assert name == again
        assert torch.equal(one.args[0].nan_to_num(), other.args[0].nan_to_num())
        assert (one.args[0].shape, one.args[0].dtype) == ((3, 2), torch.float32)


def test_they_reach_constants_neighbours_and_what_is_not_finite() -> None:
    calls = (Call((torch.rand(3, 2),), {}),)
    found = [(name, call.args[0]) for name, (call,) in mutants(calls, (0.7,), 0)]
    values = torch.cat([tensor.flatten() for _, tensor in found])
    beside = torch.nextafter(torch.tensor(0.7), torch.tensor(1.0))

    assert {0.0, 1.0} <= set(values.tolist())
    assert (values == torch.tensor(0.7)).any()
    assert (values == beside).any() or (values == torch.nextafter(torch.tensor(0.7), -beside)).any()
    assert values.isnan().any()
    assert (values == float("inf")).any()
    assert all(is_bounded(name) for name, tensor in found if tensor.isfinite().all())


def test_masks_hold_nothing_and_all_while_numbers_stay() -> None:
    x, mask = torch.rand(3, 2), torch.tensor([True, False])
    found = dict(mutants((Call((x, mask), {}),), (0.0,), 0))

    for name, truth in (("nothing true", False), ("all true", True)):
        (call,) = found[name]
        assert torch.equal(call.args[0], x)
        assert call.args[1].tolist() == [truth, truth]
    assert "nothing true" not in dict(mutants((Call((x,), {}),), (0.0,), 0))


def test_the_constants_of_a_function_are_found() -> None:
    text = "def f(x):\n    return x > -0.5 and x[2] < 1e-3 and 'text'"

    assert constants_in(ast.parse(text)) == (0.0, 1e-3, 0.5, 1.0, 2.0)
