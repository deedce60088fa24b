"""Whatever sequence of changes a call makes, restoring brings everything back."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from capturelint.debug.states.state import State

_variable = 0


class Model(nn.Module):
    total = 0
    anything: Any
    table: Any
    acc: Any

    def __init__(self) -> None:
        super().__init__()
        self.anything = None
        self.items: list[Any] = [1, [2], {"k": 3}]
        self.table = {"a": torch.zeros(2), "b": [torch.ones(1)]}
        self.holder = SimpleNamespace(inner=SimpleNamespace(values=[0], tensor=torch.zeros(1)))
        self.acc = torch.zeros(3)
        self.linear = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)


def counter() -> Callable[[], None]:
    count = 0

    def bump() -> None:
        nonlocal count
        count += 1

    return bump


def change_variable() -> None:
    global _variable  # noqa: PLW0603 - what is tested
    _variable += 1


def change_class() -> None:
    Model.total += 1


def share(model: Model) -> None:
    model.holder.inner.values = model.items
    model.table["c"] = model.table.get("b")
    model.anything = model.holder


MUTATIONS: list[Callable[[Model], object]] = [
    lambda m: setattr(m, "anything", random.random()),
    lambda m: setattr(m, "anything", [m.anything]),
    lambda m: m.items.append(m.acc),
    lambda m: m.items.clear(),
    lambda m: m.items.reverse(),
    lambda m: m.table.update(a=torch.ones(4), z=1),
    lambda m: m.table.pop("b", None),
    lambda m: setattr(m, "table", dict(reversed(m.table.items()))),
    lambda m: m.acc.add_(1),
    lambda m: setattr(m, "acc", m.acc * 2),
    lambda m: setattr(m.acc, "data", torch.ones(1)),
    lambda m: m.holder.inner.values.append(len(m.items)),
    lambda m: setattr(m.holder, "inner", SimpleNamespace(values=[1], tensor=m.acc)),
    lambda m: m.holder.inner.tensor.fill_(3),
    lambda m: vars(m.holder).update(inner=vars(m.holder).pop("inner"), more=1),
    lambda m: m.norm(torch.randn(3, 2)),
    lambda m: m.linear(torch.ones(1, 2, requires_grad=True)).sum().backward(),
    lambda m: m.linear.weight.detach().mul_(2),
    lambda m: setattr(m.linear, "weight", nn.Parameter(torch.zeros(2, 2))),
    lambda m: setattr(m, "linear", nn.Linear(2, 2)),
    lambda m: m.requires_grad_(not m.linear.weight.requires_grad),
    lambda m: m.train(not m.training),
    lambda _: change_variable(),
    lambda _: change_class(),
    share,
]


def picture(value: object, met: dict[int, int]) -> object:
    """Return all there is to a value: contents, and by number which objects are the same."""
    if id(value) in met:
        return met[id(value)]
    if isinstance(value, (int, float, str, bool, type(None))):
        return value
    met[id(value)] = len(met)
    if isinstance(value, torch.Tensor):
        gradient = None if value.grad is None else value.grad.tolist()
        return id(value), value.data_ptr(), value.tolist(), value.requires_grad, gradient
    if isinstance(value, nn.Module):
        parts = {**vars(value), **dict(value.named_parameters()), **dict(value.named_buffers())}
        return id(value), [(key, picture(parts[key], met)) for key in sorted(parts)]
    if isinstance(value, dict):
        return id(value), [(key, picture(item, met)) for key, item in value.items()]
    if isinstance(value, (list, tuple)):
        return id(value), [picture(item, met) for item in value]
    if isinstance(value, SimpleNamespace):
        return id(value), picture(vars(value), met)
    return id(value)


def everything(model: Model) -> object:
    return (
        picture(model, {}),
        Model.total,
        _variable,
        random.getstate(),
        torch.get_rng_state().tolist(),
    )


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(MUTATIONS), max_size=6),
    st.lists(st.sampled_from(MUTATIONS), max_size=6),
)
def test_any_sequence_of_changes_is_undone(
    earlier: list[Callable[[Model], object]], later: list[Callable[[Model], object]]
) -> None:
    model = Model()
    state = State([model])
    for change in earlier:
        change(model)
    before = state.save()
    seen = everything(model)

    with state.watching():
        for change in later:
            change(model)
    state.restore(before)

    assert everything(model) == seen
    assert state.changes(before, state.save()) == ()


def test_a_function_counts_from_the_same_number_again() -> None:
    bump = counter()
    state = State([bump])
    before = state.save()

    bump()
    bump()
    state.restore(before)

    assert bump.__closure__ is not None
    assert bump.__closure__[0].cell_contents == 0
