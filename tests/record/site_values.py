"""What code around a capture is given, what is read of its result, and what eager computes instead."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.record.world import World

# Set before a site runs, and again before what eager computes where weights are made.
SEED = 3


class Given:
    """What sites are given, by the names of their parameters, and what was seen of their run.

    `captured`: graphs they made; `called`: modules they called; `printed`: what they printed.
    """

    def __init__(self, rule: str, module: ModuleType, world: World) -> None:
        torch.manual_seed(7)
        self.module = module
        self.world = world
        self.x = torch.rand(8, 16, device="cuda")
        self.batches = self.xs = [torch.rand(8, 16, device="cuda") for _ in range(4)]
        self.batch = self.batches[0]
        self.model: Any = nn.Linear(16, 16, device="cuda")
        if rule == "CL603":
            self.model, self.batches = module.inputs()
        self.layer = self.model
        self.other = nn.Linear(16, 16, device="cuda")
        self.prepare = nn.Linear(16, 16, device="cuda")
        self.history = torch.zeros(8, 16, 4, device="cuda")
        self.graphs: dict[int, torch.cuda.CUDAGraph] = {}
        self.outputs: dict[int, Tensor] = {}
        self.options = {"capturable": True}
        self.captured: list[torch.cuda.CUDAGraph] = []
        self.called: list[nn.Module] = []
        self.printed = ""

    def arguments(self, function: Callable[..., object]) -> dict[str, object]:
        """Return the arguments of a function. Those without a value here keep their default."""
        parameters = inspect.signature(function).parameters
        return {name: getattr(self, name) for name in parameters if hasattr(self, name)}


Reading = Callable[[Given, Any], object]
Wanted = Callable[[Given], object]


def reading_of(rule: str, name: str) -> Reading:
    """Return what is read of the result of a site, which may be replayed for that."""
    by_rule = _READ.get(rule, {})
    return by_rule.get(name, by_rule.get("", lambda _, output: output))


def wanted_of(rule: str, name: str) -> Wanted | None:
    """Return what eager computes; None where all is well if it captures."""
    by_rule = _WANTED.get(rule, {})
    return by_rule.get(name, by_rule.get(""))


def _step(x: Tensor) -> Tensor:
    return x * 2 + 1


def _replayed(graph: torch.cuda.CUDAGraph, y: object) -> object:
    graph.replay()
    return y


def _with_new_weights(given: Given, output: Any) -> object:
    """Replay after the weights have changed, and after freed memory was overwritten."""
    with torch.no_grad():
        given.model.weight.mul_(2)
    given.world.at(1)
    if isinstance(output, nn.Module):
        return output(given.x)
    return _replayed(given.captured[-1], output)


def _with_a_new_input(given: Given, y: object) -> object:
    """Replay on another input. Work on a stream of its own is waited for, before and after."""
    torch.cuda.synchronize()
    given.x.mul_(2)
    given.captured[-1].replay()
    torch.cuda.synchronize()
    return y


def _cast(given: Given, dtype: torch.dtype, *, is_prepared: bool = False) -> Tensor:
    """Return what the model computes in autocast, from the weights that it has now."""
    with torch.no_grad(), torch.autocast("cuda", dtype=dtype, cache_enabled=False):
        x = given.x
        if is_prepared:
            x = functional.linear(x, given.prepare.weight, given.prepare.bias)
        return functional.linear(x, given.model.weight, given.model.bias)


def _uncast(given: Given) -> Tensor:
    with torch.no_grad():
        return functional.linear(given.x, given.model.weight, given.model.bias)


def _scheduled(given: Given) -> object:
    """Return the weights after the eager steps that the sites of CL802 replay."""
    torch.manual_seed(SEED)
    layer = nn.Linear(16, 16, device="cuda")
    rate = torch.tensor(1e-3, device="cuda")
    optimizer = torch.optim.AdamW(layer.parameters(), lr=rate, capturable=True)
    scheduler = torch.optim.lr_scheduler.LinearLR(optimizer)
    for _ in range(100):
        layer.zero_grad(set_to_none=True)
        layer(given.x).sum().backward()
        optimizer.step()
        scheduler.step()
    return list(layer.parameters())


def _doubled(given: Given) -> object:
    return [x * 2 for x in given.batches]


def _each_step(given: Given) -> object:
    return [_step(x) for x in given.batches]


def _twice_each_step(given: Given) -> object:
    return [_step(x) * 2 for x in given.batches]


# By rule, then by example; "" stands for the others of the rule.
_READ: Mapping[str, Mapping[str, Reading]] = {
    "CL702": dict.fromkeys(
        ("bad_region", "good_region", "good_region_on_the_stream", "good_fork_by_a_function"),
        _with_a_new_input,
    ),
    "CL802": {"": lambda given, _: [list(one.parameters()) for one in given.called[-1:]]},
    "CL902": {
        "bad_stored_in_a_tensor": lambda given, _: given.history[..., 0],
        "bad_printed": lambda given, _: given.printed,
        "good_shape": lambda _, shape: list(shape),
        "good_graph_handed_out": lambda _, output: _replayed(*output),
        "good_graph_kept": lambda given, y: _replayed(given.graphs[8], y),
        "good_output_kept": lambda given, graph: _replayed(graph, given.outputs[8]),
    },
    "CL903": {
        "": _with_new_weights,
        "bad_eager_afterwards": lambda _, output: output,
    },
    "CL904": {"bad_loop_variable": lambda given, _: [float(n) for n in given.printed.split()]},
}

_HALF, _BRAIN = torch.float16, torch.bfloat16

_WANTED: Mapping[str, Mapping[str, Wanted]] = {
    "CL603": {
        "": _doubled,
        "bad_view": lambda given: torch.stack([x[0] * 2 for x in given.batches]),
        "good_numbers": lambda given: [(x * 2).sum().item() for x in given.batches],
        "good_buffer": lambda given: torch.stack([x * 2 for x in given.batches]),
        "good_after_the_loop": lambda given: given.batches[-1] * 2,
    },
    "CL702": {"": lambda given: given.x + 1, "bad_warmup": lambda given: given.x * 2 + 1},
    "CL802": {"bad_schedule": _scheduled, "good_rate_on_the_device": _scheduled},
    "CL803": {
        "": lambda given: _step(given.x),
        "good_called_outside": lambda given: _step(_step(given.x)),
        "good_one_after_the_other": lambda given: _step(_step(given.x)),
    },
    "CL902": {
        "": lambda given: _step(given.x),
        "bad_item": lambda given: _step(given.x).sum().item(),
        "bad_comparison": lambda _: [],
        "bad_capture_begin": lambda given: _step(given.x) + 1,
        "BadFirstCall": _twice_each_step,
        "bad_printed": lambda given: f"{_step(given.x)}\n",
        "good_replay": lambda given: _step(given.x).sum().item(),
        "good_shape": lambda given: list(given.x.shape),
        "GoodFirstCall": _twice_each_step,
        "GoodCaptureThenReplay": _twice_each_step,
        "GoodCaptureApart": _twice_each_step,
        "GoodReplayInAMethod": lambda given: _step(given.x) * 2,
        "good_capture_that_has_to_fail": lambda _: [],
        "good_replayed_by_a_function": lambda given: _step(given.x) + 1,
        "good_replays_in_a_loop": lambda given: [_step(x).sum().item() for x in given.xs],
        "good_output_used_in_a_second_region": lambda given: _step(given.x) * 2,
        "good_name_bound_anew": lambda given: given.x + 1,
        "GoodEagerElsewhere": lambda given: _step(given.x).sum() + 1,
    },
    "CL903": {
        "": lambda given: _cast(given, _HALF),
        "bad_warmup_in_the_same_context": lambda given: _cast(given, _BRAIN),
        "bad_eager_afterwards": lambda given: _cast(given, _HALF) * 2,
        "good_without_a_cache": lambda given: _cast(given, _BRAIN),
        "good_switched_off": _uncast,
        "good_other_work": lambda given: _cast(given, _HALF, is_prepared=True),
    },
    "CL904": {
        "": lambda given: _step(given.x),
        "bad_rebound": _each_step,
        "bad_loop_variable": lambda given: [_step(x).sum().item() for x in given.batches],
        "BadRunner": _each_step,
        "good_copied": _each_step,
        "good_rows_stored": lambda given: _step(given.batch),
        "GoodRunner": _each_step,
        "good_captured_again": lambda given: _step(given.batches[-2]),
        "good_another_name_fills_it": lambda given: _step(given.batch),
        "good_in_place_by_assignment": lambda given: _step(given.batch),
    },
}
