"""Changes of state are told by name, with the values in words, and nothing else is told."""

from __future__ import annotations

import random
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.states.state import Change, State


class Layer(nn.Module):
    calls = 0
    cache: list[Any]
    acc: Any
    holder: Any
    table: Any
    made: Any
    mode: Any

    def __init__(self) -> None:
        super().__init__()
        self.step = 5
        self.cache = [1, 2]
        self.acc = torch.zeros(2, 3)
        self.holder = SimpleNamespace(count=1)
        self.table = {"k": 0}
        self.linear = nn.Linear(2, 2)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Layer()])

    @property
    def first(self) -> Layer:
        layer = self.layers[0]
        assert isinstance(layer, Layer)
        return layer


def changes(root: object, change: Callable[[], object]) -> list[Change]:
    """Return what `change` changes, and put it back."""
    state = State([root])
    before = state.save()
    with state.watching():
        change()
    found = state.changes(before, state.save())
    state.restore(before)
    return list(found)


def layer_changes(change: Callable[[Layer], object]) -> list[Change]:
    model = Model()
    return changes(model, lambda: change(model.first))


@pytest.mark.parametrize(
    ("change", "name", "before", "after"),
    [
        (lambda layer: setattr(layer, "step", 6), "layers.0.step", "5", "6"),
        (lambda layer: setattr(layer, "step", None), "layers.0.step", "5", "None"),
        (lambda layer: setattr(layer.holder, "count", 2), "layers.0.holder.count", "1", "2"),
        (lambda layer: layer.table.update(k=1), "layers.0.table['k']", "0", "1"),
        (lambda layer: layer.cache.__setitem__(1, 7), "layers.0.cache[1]", "2", "7"),
        (lambda layer: setattr(layer, "cache", [1, 3]), "layers.0.cache[1]", "2", "3"),
        (lambda layer: layer.eval(), "layers.0.linear.training", "True", "False"),
        (lambda _: setattr(Layer, "calls", 1), "Layer.calls", "0", "1"),
        (
            lambda layer: layer.linear.weight.requires_grad_(False),
            "layers.0.linear.weight.requires_grad",
            "True",
            "False",
        ),
    ],
)
def test_a_number_is_told_with_both_values(
    change: Callable[[Layer], object], name: str, before: str, after: str
) -> None:
    assert Change(name, "number", before, after) in layer_changes(change)


@pytest.mark.parametrize(
    ("change", "name", "before", "after"),
    [
        (
            lambda layer: setattr(layer, "acc", layer.acc + 1),
            "layers.0.acc",
            "float32 tensor (2, 3)",
            "float32 tensor (2, 3)",
        ),
        (lambda layer: setattr(layer, "acc", 1), "layers.0.acc", "float32 tensor (2, 3)", "1"),
        (
            lambda layer: setattr(layer.linear.bias, "data", torch.ones(2)),
            "layers.0.linear.bias",
            "float32 tensor (2)",
            "float32 tensor (2)",
        ),
        (lambda layer: delattr(layer, "step"), "layers.0.step", "5", "deleted"),
        (
            lambda layer: setattr(layer, "cache", (1, 2)),
            "layers.0.cache",
            "list of 2",
            "tuple of 2",
        ),
    ],
)
def test_what_stands_for_another_object_is_rebound(
    change: Callable[[Layer], object], name: str, before: str, after: str
) -> None:
    assert layer_changes(change) == [Change(name, "rebound", before, after)]


@pytest.mark.parametrize(
    ("change", "name", "before", "after"),
    [
        (lambda layer: layer.cache.append(3), "layers.0.cache", "2 items", "3 items"),
        (lambda layer: layer.cache.insert(0, 3), "layers.0.cache", "2 items", "3 items"),
        (lambda layer: layer.cache.clear(), "layers.0.cache", "2 items", "0 items"),
        (lambda layer: layer.table.update(n=1), "layers.0.table", "1 items", "2 items"),
    ],
)
def test_a_container_that_grew_or_shrank_is_told_once(
    change: Callable[[Layer], object], name: str, before: str, after: str
) -> None:
    assert layer_changes(change) == [Change(name, "grew", before, after)]


def test_a_dict_that_grew_tells_of_its_other_entries_too() -> None:
    assert layer_changes(lambda layer: layer.table.update(k=4, n=1)) == [
        Change("layers.0.table", "grew", "1 items", "2 items"),
        Change("layers.0.table['k']", "number", "0", "4"),
    ]


def test_attributes_made_are_told() -> None:
    assert layer_changes(lambda layer: setattr(layer, "made", torch.ones(1))) == [
        Change("layers.0.made", "created", "", "float32 tensor (1)")
    ]
    assert layer_changes(lambda layer: setattr(layer.holder, "made", 2)) == [
        Change("layers.0.holder.made", "created", "", "2")
    ]


def test_host_tensors_written_in_place_are_told_with_the_first_element() -> None:
    model = Model()
    model.first.holder.position = torch.tensor(3)

    assert changes(model, lambda: model.first.acc[1].fill_(2)) == [
        Change("layers.0.acc", "host tensor", "0.0 at [1, 0]", "2.0 at [1, 0]")
    ]
    assert changes(model, lambda: model.first.holder.position.add_(1)) == [
        Change("layers.0.holder.position", "host tensor", "3", "4")
    ]


def test_host_arrays_written_in_place_are_told() -> None:
    numpy = pytest.importorskip("numpy", reason="about numpy arrays")
    model = Model()
    model.first.table["array"] = numpy.zeros(3)

    assert changes(model, lambda: model.first.table["array"].put(2, 5)) == [
        Change("layers.0.table['array']", "host tensor", "0.0 at [2]", "5.0 at [2]")
    ]


def test_random_numbers_drawn_on_the_host_are_told() -> None:
    numpy = pytest.importorskip("numpy", reason="about numpy's generator too")
    model = Model()
    model.first.table["own"] = random.Random(0)

    def change() -> None:
        random.random()
        numpy.random.rand()
        torch.rand(1)
        model.first.table["own"].random()

    names = ["layers.0.table['own']", "numpy.random", "random", "torch CPU generator"]
    assert changes(model, change) == [Change(name, "host random numbers") for name in names]


@pytest.mark.parametrize(
    "change",
    [
        lambda layer: setattr(layer, "step", 5),
        lambda layer: setattr(layer, "acc", layer.acc.view(2, 3)),
        lambda layer: setattr(layer, "cache", [1, 2]),
        lambda layer: setattr(layer, "table", {"k": 0}),
        lambda layer: setattr(layer, "holder", SimpleNamespace(count=1)),
        lambda layer: layer.acc.add_(0),
        lambda layer: layer.linear(torch.ones(1, 2)).sum().backward(),
        lambda layer: layer.register_forward_hook(print),
    ],
)
def test_what_comes_to_the_same_is_no_change(change: Callable[[Layer], object]) -> None:
    assert layer_changes(change) == []


def test_not_a_number_is_itself() -> None:
    model = Model()
    model.first.mode = float("nan")

    assert changes(model, lambda: setattr(model.first, "mode", float("nan"))) == []


def test_an_object_that_two_paths_lead_to_is_told_once() -> None:
    model = Model()
    model.first.table["again"] = model.first.holder

    assert changes(model, lambda: setattr(model.first.holder, "count", 2)) == [
        Change("layers.0.holder.count", "number", "1", "2")
    ]


def test_names_of_roots_begin_the_paths() -> None:
    draft, target = Layer(), Layer()
    state = State({"draft": draft, "target": target})
    before = state.save()

    target.step += 1

    assert state.changes(before, state.save()) == (Change("target.step", "number", "5", "6"),)


def test_changes_are_sorted_by_name() -> None:
    def change(layer: Layer) -> None:
        layer.step = 1
        layer.cache.clear()

    found = layer_changes(change)

    assert [change.name for change in found] == ["layers.0.cache", "layers.0.step"]


def test_snapshots_of_different_times_can_be_compared_the_other_way_round() -> None:
    layer = Layer()
    state = State([layer])
    before = state.save()
    layer.step += 1
    after = state.save()

    assert state.changes(after, before) == (Change("step", "number", "6", "5"),)
