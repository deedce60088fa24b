"""Which modules a callable is found to hold, and under which names."""

from __future__ import annotations

import functools
from typing import Any

from torch import nn

from capturelint.debug.attempts.reachable import reachable

_SHARED = nn.Identity()


def _calls_a_global(x: Any) -> Any:
    return _SHARED(x)


def _calls_a_function(x: Any) -> Any:
    return _calls_a_global(x)


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList([nn.Identity()])
        self.again = self.blocks[0]
        self.hidden = [nn.Identity()]

    def encode(self, x: Any) -> Any:
        return self(x)


def test_a_module_has_all_below_it_under_all_names() -> None:
    model = Model()

    assert reachable(model) == {
        "": model,
        "blocks": model.blocks,
        "blocks.0": model.blocks[0],
        "again": model.blocks[0],
    }


def test_a_module_that_holds_itself_is_entered_once() -> None:
    model = nn.Sequential()
    model.add_module("me", model)

    assert reachable(model) == {"": model, "me": model}


def test_a_method_has_what_its_object_has() -> None:
    model = Model()

    assert list(reachable(model.encode)) == ["blocks", "blocks.0", "again", "self"]


def test_a_function_has_its_closure_defaults_and_partial_arguments() -> None:
    model, first, second = Model(), nn.Identity(), nn.Identity()

    def step(x: Any, head: Any = first, *, tail: Any = second) -> Any:
        return tail(head(model(x)))

    assert list(reachable(step)) == [
        "model",
        "model.blocks",
        "model.blocks.0",
        "model.again",
        "head",
        "tail",
    ]
    assert list(reachable(functools.partial(print, first, end=second))) == ["0", "end"]


def test_a_function_has_the_globals_of_its_file() -> None:
    assert reachable(_calls_a_global) == {"_SHARED": _SHARED}
    assert reachable(_calls_a_function) == {"_calls_a_global._SHARED": _SHARED}


def test_an_object_that_is_called_has_its_attributes() -> None:
    class Step:
        def __init__(self) -> None:
            self.models = {"draft": _SHARED}

        def __call__(self, x: Any) -> Any:
            return self.models["draft"](x)

    assert reachable(Step()) == {"models.draft": _SHARED}


def test_a_variable_that_is_not_assigned_yet_holds_nothing() -> None:
    def step(x: Any) -> Any:
        return later(x)

    assert reachable(step) == {}
    later = nn.Identity()
    assert reachable(step) == {"later": later}
