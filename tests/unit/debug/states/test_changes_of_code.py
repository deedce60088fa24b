"""Changes of what code and libraries keep outside of instances are told by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from capturelint.debug.states.state import Change, State

_count = 0
_flags: dict[str, int] = {"on": 0}


class Model(nn.Module):
    optimizer: Any

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)


def changes(root: object, change: Callable[[], object]) -> list[Change]:
    """Return what `change` changes, and put it back."""
    state = State([root])
    before = state.save()
    with state.watching():
        change()
    found = state.changes(before, state.save())
    state.restore(before)
    return list(found)


def test_variables_of_files_are_told() -> None:
    def change() -> None:
        global _count  # noqa: PLW0603 - what is tested
        _count += 1
        _flags["on"] = 1

    assert changes(Model(), change) == [
        Change("global _count", "number", "0", "1"),
        Change("global _flags['on']", "number", "0", "1"),
    ]


def test_variables_of_enclosing_functions_and_defaults_are_told() -> None:
    count = 0

    def bump(cache: list[int] = []) -> None:  # noqa: B006 - what is tested
        nonlocal count
        count += 1
        cache.append(1)

    assert changes(bump, bump) == [
        Change("default cache of bump", "grew", "0 items", "1 items"),
        Change("nonlocal count of bump", "number", "0", "1"),
    ]


def test_attributes_of_functions_are_told() -> None:
    def bump() -> None:
        bump.calls += 1  # type: ignore[attr-defined]

    bump.calls = 0  # type: ignore[attr-defined]

    assert changes(bump, bump) == [Change("bump.calls", "number", "0", "1")]


def test_what_an_optimizer_keeps_for_itself_is_not_told() -> None:
    model = Model()
    model.optimizer = torch.optim.SGD(model.linear.parameters(), lr=0.1)
    optimizer = model.optimizer

    def change() -> None:
        optimizer._step_count = 4  # noqa: SLF001 - what is tested
        optimizer.param_groups[0]["lr"] = 0.2

    assert changes(model, change) == [
        Change("optimizer.param_groups[0]['lr']", "number", "0.1", "0.2")
    ]
