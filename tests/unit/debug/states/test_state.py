"""What calls change is put back: the same objects hold the same values again."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from capturelint.debug.states.state import State


class Model(nn.Module):
    table: Any
    holder: Any
    slots: Any
    made: Any

    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        self.cache: list[Any] = []
        self.table: dict[str, Any] = {"a": [1]}
        self.window: deque[int] = deque([1], maxlen=2)
        self.seen = {1}
        self.acc = torch.zeros(2)
        self.holder = SimpleNamespace(count=1, inner=SimpleNamespace(count=2))


@dataclass(slots=True)
class Slotted:
    count: int = 0
    parts: list[int] = field(default_factory=list)


def restored(root: object, change: Callable[[], object]) -> None:
    """Save the state of `root`, change something while watching, and restore it."""
    state = State([root])
    before = state.save()
    with state.watching():
        change()
    state.restore(before)
    assert state.changes(before, state.save()) == ()


def test_numbers_come_back() -> None:
    model = Model()

    def change() -> None:
        model.step += 1
        model.holder.inner.count = 9

    restored(model, change)

    assert (model.step, model.holder.inner.count) == (0, 2)


def test_containers_hold_again_what_they_held_in_place() -> None:
    model = Model()
    held = model.cache, model.table, model.table["a"], model.window, model.seen

    def change() -> None:
        model.cache.append(torch.ones(1))
        model.table["a"].append(2)
        model.table["b"] = 1
        model.window.extend([2, 3])
        model.seen.clear()

    restored(model, change)

    assert held == ([], {"a": [1]}, [1], deque([1]), {1})
    assert model.cache is held[0]
    assert model.table["a"] is held[2]


def test_a_container_that_was_exchanged_comes_back_itself() -> None:
    model = Model()
    cache = model.cache

    restored(model, lambda: setattr(model, "cache", [1, 2]))

    assert model.cache is cache


def test_the_order_of_a_dict_comes_back() -> None:
    model = Model()
    model.table = OrderedDict(a=1, b=2)

    restored(model, lambda: model.table.move_to_end("a"))

    assert list(model.table) == ["a", "b"]


def test_a_dict_whose_value_moved_to_another_key_gets_its_key_back() -> None:
    model = Model()

    def change() -> None:
        model.table["b"] = model.table.pop("a")

    restored(model, change)

    assert model.table == {"a": [1]}


def test_a_tensor_that_was_exchanged_comes_back_itself() -> None:
    model = Model()
    acc = model.acc

    restored(model, lambda: setattr(model, "acc", acc + 1))

    assert model.acc is acc


def test_attributes_that_were_made_go_and_those_deleted_come_back() -> None:
    model = Model()

    def change() -> None:
        model.made = 1
        model.holder.made = 1
        vars(model).pop("step")

    restored(model, change)

    assert not hasattr(model, "made")
    assert not hasattr(model.holder, "made")
    assert model.step == 0


def test_slots_come_back() -> None:
    model = Model()
    model.slots = Slotted()

    def change() -> None:
        model.slots.count += 1
        model.slots.parts.append(1)

    restored(model, change)

    assert model.slots == Slotted()


def test_objects_that_hold_each_other_end() -> None:
    model = Model()
    model.holder.owner = model.holder
    model.holder.model = model

    restored(model, lambda: setattr(model.holder, "count", 5))

    assert model.holder.count == 1


def test_a_snapshot_can_be_restored_many_times() -> None:
    model = Model()
    state = State([model])
    before = state.save()

    for _ in range(3):
        with state.watching():
            model.step += 1
            model.acc.add_(1)
        state.restore(before)

        assert model.step == 0
        assert model.acc.tolist() == [0, 0]


def test_extra_tensors_come_back() -> None:
    extra = torch.zeros(2)
    state = State([nn.ReLU()], extra=[extra])
    before = state.save()

    extra.add_(1)
    state.restore(before)

    assert extra.tolist() == [0, 0]


def test_a_module_without_state_of_its_own_is_left_as_it_is() -> None:
    model = nn.Sequential(nn.Linear(1, 1), nn.ReLU())
    held = dict(vars(model)), list(model), dict(model[0].named_parameters())

    restored(model, lambda: model(torch.ones(1, 1)))

    assert (dict(vars(model)), list(model), dict(model[0].named_parameters())) == held
