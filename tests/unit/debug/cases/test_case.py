"""A case says at once, on one line, what is wrong with it."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError


def step(x: torch.Tensor) -> torch.Tensor:
    return x


def test_a_single_callable_has_no_name() -> None:
    assert Case(step, torch.ones(1)).named == {"": step}


def test_several_callables_keep_their_names_and_order() -> None:
    draft, target = nn.Linear(1, 1), nn.Linear(1, 1)

    case = Case({"draft": draft, "target": target}, lambda seed: {})

    assert list(case.named.items()) == [("draft", draft), ("target", target)]


@pytest.mark.parametrize(
    "fields",
    [
        {"inputs": torch.ones(1)},
        {"inputs": (torch.ones(1), 3)},
        {"inputs": ()},
        {"inputs": {"x": torch.ones(1)}},
        {"inputs": ((torch.ones(1),), {"y": 1})},
        {"inputs": [torch.ones(1), (torch.ones(1),)]},
        {"inputs": lambda seed: None},
        {"prepare": print},
        {"state": [torch.ones(1)]},
        {"state": ()},
        {"batch_dims": 0},
        {"batch_dims": {"x": 1}},
        {"mode": "train"},
        {"tolerance": 0},
    ],
)
def test_what_a_case_may_hold(fields: dict[str, Any]) -> None:
    Case(**{"callables": step, "inputs": torch.ones(1), **fields})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"callables": 3},
            "callables is an int; give a module, a function, or several by name",
        ),
        ({"callables": {}}, "callables is empty; name at least one module or function"),
        (
            {"callables": {1: step}},
            "callables has the key 1; name each module or function by text",
        ),
        (
            {"callables": {"": step}},
            "callables has the key ''; name each module or function by text",
        ),
        (
            {"callables": {"draft": torch.ones(1)}},
            "callables['draft'] is a Tensor; give a module or a function",
        ),
        (
            {"inputs": None},
            "inputs is None; give a function of seed, a list of recorded inputs, or one example",
        ),
        (
            {"inputs": range(3)},
            "inputs is a range; give a function of seed, a list of recorded inputs, or one example",
        ),
        ({"inputs": []}, "inputs is an empty list; give at least one recorded input"),
        (
            {"inputs": [(), 1.5]},
            "inputs[1] is a float; give a tensor, a tuple, a mapping, or (tuple, mapping)",
        ),
        ({"prepare": 1}, "prepare is an int; give a function of the step's number"),
        ({"state": torch.ones(1)}, "state is a Tensor; give a list of tensors"),
        ({"state": [torch.ones(1), 1]}, "state[1] is an int; give tensors"),
        ({"batch_dims": "x"}, "batch_dims holds a str; give the number of a dimension"),
        ({"batch_dims": {"x": True}}, "batch_dims holds a bool; give the number of a dimension"),
        ({"mode": "eval"}, "mode 'eval' is unknown; the modes are no_grad, inference, train"),
        ({"tolerance": -1}, "tolerance is -1; give a number that is not negative"),
        ({"tolerance": "1e-3"}, "tolerance is '1e-3'; give a number that is not negative"),
    ],
)
def test_what_is_wrong_with_a_case(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(CaseError) as error:
        Case(**{"callables": step, "inputs": torch.ones(1), **fields})

    assert str(error.value) == message
