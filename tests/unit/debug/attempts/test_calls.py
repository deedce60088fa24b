"""Standing between callers and modules: what is seen, and that nothing stays behind."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from capturelint.debug.attempts.calls import Run, answered_by, every_call_through


class Seen:
    def __init__(self) -> None:
        self.calls: list[str] = []

    def __call__(self, module: nn.Module, run: Run, args: Any, kwargs: Any) -> object:
        self.calls.append(type(module).__name__)
        return run(*args, **kwargs)


def test_calls_of_calls_are_seen_outside_first() -> None:
    seen = Seen()
    model = nn.Sequential(nn.Identity(), nn.ReLU())
    with every_call_through(seen, ()):
        model(torch.ones(1))
    model(torch.ones(1))

    assert seen.calls == ["Sequential", "Identity", "ReLU"]


def test_two_can_stand_between_at_once() -> None:
    outer, inner = Seen(), Seen()
    with every_call_through(outer, ()):
        with every_call_through(inner, ()):
            nn.Identity()(torch.ones(1))
        nn.ReLU()(torch.ones(1))

    assert (outer.calls, inner.calls) == (["Identity", "ReLU"], ["Identity"])


def test_an_argument_may_be_called_module() -> None:
    class Odd(nn.Module):
        def forward(self, *, module: Tensor) -> Tensor:
            return module

    with every_call_through(Seen(), ()):
        assert Odd()(module=torch.ones(1)) == 1


def test_the_calls_of_a_transformer_layer_stay_as_they_are() -> None:
    # With hooks on its modules, torch leaves its fast path and calls each of them.
    seen = Seen()
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True).eval()
    with every_call_through(seen, layer.modules()), torch.no_grad():
        layer(torch.ones(1, 2, 4))

    assert seen.calls == ["TransformerEncoderLayer"]


def test_an_answer_takes_the_place_of_forward_and_hooks() -> None:
    model = nn.Identity()
    model.register_forward_hook(lambda *_arguments: 1 / 0)
    with answered_by({model: lambda x: x + 1}):
        assert model(1) == 2

    assert "_compiled_call_impl" not in vars(model)


def test_what_a_compiler_left_is_put_back() -> None:
    model = nn.Identity()
    vars(model)["_compiled_call_impl"] = compiled = max
    with answered_by({model: min}):
        assert model(1, 2) == 1

    assert vars(model)["_compiled_call_impl"] is compiled
