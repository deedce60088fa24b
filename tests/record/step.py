"""Capture one step and compare its replays with eager calls on the same fresh inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from tests.record.outcome import (
    CAPTURES,
    EQUAL,
    NONDETERMINISTIC,
    RAISES,
    REFUSES,
    STALE,
    Outcome,
    is_equal,
    leaves,
    said,
)
from tests.record.world import World

# Enough for what happens in one call of ten, and for a counter that is asked at its sixth call.
REPLAYS = 24


@dataclass(frozen=True, slots=True)
class Twin:
    """One fresh copy of the code under test.

    `state`: tensors that are compared where a call returns nothing.
    """

    call: Callable[..., object]
    state: tuple[Tensor, ...] = ()

    def seen(self, output: object) -> list[Any]:
        """Return what is compared after a call that returned `output`."""
        return leaves(self.state if output is None else output)


@dataclass(frozen=True, slots=True)
class Step:
    """A step to capture. Each twin starts from the same state.

    `inputs`: the arguments of the call with that number, new tensors each time.
    `warmup`: calls before the capture; without any the capture is the first call.
    """

    make: Callable[[], Twin]
    inputs: Callable[[int], tuple[Any, ...]]
    warmup: int = 3


def step_outcome(step: Step, world: World) -> Outcome:
    """Return what happens to a step that is warmed up, captured and replayed."""
    try:
        wanted = _eager(step, world)
    except Exception as error:  # noqa: BLE001 - whatever user code raises
        return Outcome(RAISES, said(error))
    world.at(0)
    twin = step.make()
    arguments = step.inputs(0)
    _warm_up(step, twin, arguments, world)
    try:
        graph, output = _captured(step, twin, arguments, world)
    except Exception as error:  # noqa: BLE001 - whatever capture raises
        return Outcome(REFUSES, said(error))
    if not twin.seen(output):
        return Outcome(CAPTURES)
    for number, want in enumerate(wanted):
        _set(step, step.warmup + number, arguments, world)
        graph.replay()
        torch.cuda.synchronize()
        if not is_equal(twin.seen(output), want):
            return _differing(step, wanted, number, world)
    return Outcome(EQUAL)


def _eager(step: Step, world: World) -> list[list[Any]]:
    """Return what each call after the warm-up shows."""
    world.at(0)
    twin = step.make()
    shown: list[list[Any]] = []
    for number in range(step.warmup + REPLAYS):
        arguments = step.inputs(number)
        world.at(number)
        torch.cuda.synchronize()
        output = twin.call(*arguments)
        torch.cuda.synchronize()
        if number >= step.warmup:
            shown.append(twin.seen(output))
    return shown


def _warm_up(step: Step, twin: Twin, arguments: tuple[Any, ...], world: World) -> None:
    side = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch says no types
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for number in range(step.warmup):
            _set(step, number, arguments, world)
            twin.call(*arguments)
    torch.cuda.current_stream().wait_stream(side)


def _captured(
    step: Step, twin: Twin, arguments: tuple[Any, ...], world: World
) -> tuple[torch.cuda.CUDAGraph, object]:
    _set(step, step.warmup, arguments, world)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        output = twin.call(*arguments)
    return graph, output


def _set(step: Step, number: int, arguments: tuple[Any, ...], world: World) -> None:
    """Fill the static arguments with those of one call, and go to its moment."""
    for static, fresh in zip(arguments, step.inputs(number), strict=True):
        if isinstance(static, Tensor):
            static.copy_(fresh)
    world.at(number)


def _differing(step: Step, wanted: list[list[Any]], number: int, world: World) -> Outcome:
    again = _eager(step, world)
    if not all(is_equal(one, other) for one, other in zip(wanted, again, strict=True)):
        return Outcome(NONDETERMINISTIC)
    return Outcome(STALE, f"replay {number + 1} differs from eager")
