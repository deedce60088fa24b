"""Run code around a capture, and compare what it reads with what eager computes."""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import socket
from collections.abc import Iterator
from types import FunctionType
from typing import Any
from unittest import mock

import torch
from torch import nn

from tests.record.examples import COLD_SITES, load
from tests.record.outcome import (
    CAPTURES,
    EQUAL,
    REFUSES,
    STALE,
    Outcome,
    is_equal,
    leaves,
    said,
)
from tests.record.site_values import SEED, Given, reading_of, wanted_of
from tests.record.world import World

# The rules whose examples drop the graph that has to be replayed.
_DROPPING = frozenset(["CL702", "CL903"])


def site_outcome(rule: str, name: str, world: World) -> Outcome:
    """Run an example of code around a capture and return what it came to."""
    world.at(0)
    given = Given(rule, load(rule, world), world)
    if "collective" in name or "parallel" in name:
        _be_the_only_process()
    if "parallel" in name:
        torch.distributed.init_process_group("nccl")
    if name == "good_model_from_elsewhere":
        given.model(given.x)  # where it comes from it was called
    torch.manual_seed(SEED)
    torch.cuda.synchronize()
    try:
        with _watched(given, rule):
            output = _run(given, name)
        seen = leaves(reading_of(rule, name)(given, output))
        torch.cuda.synchronize()
    except AssertionError as error:  # of an example that compares by itself
        return Outcome(STALE, said(error))
    except Exception as error:  # noqa: BLE001 - whatever capture raises
        return Outcome(REFUSES, said(error))
    wanted = wanted_of(rule, name)
    if wanted is None:
        return Outcome(CAPTURES)
    if is_equal(seen, leaves(wanted(given))):
        return Outcome(EQUAL)
    return Outcome(STALE, "what is read differs from eager")


def needs_process_of_its_own(rule: str, name: str) -> bool:
    """Return whether an example leaves more behind than a graph, or needs that nothing is there."""
    return rule in COLD_SITES or rule == "CL803" or "parallel" in name


def _run(given: Given, name: str) -> object:
    definition: Any = vars(given.module)[name]
    if isinstance(definition, FunctionType):
        output = definition(**given.arguments(definition))
        return list(map(leaves, output)) if inspect.isgenerator(output) else output
    runner: Any = definition(**given.arguments(definition.__init__))
    if isinstance(runner, nn.Module):
        return runner(given.x)
    first = runner.capture(given.x) if hasattr(runner, "capture") else None
    if not hasattr(runner, "run"):
        return first
    if "x" not in inspect.signature(runner.run).parameters:
        return runner.run()
    return [runner.run(batch).clone() for batch in given.batches]


@contextlib.contextmanager
def _watched(given: Given, rule: str) -> Iterator[None]:
    """Keep what the site prints, the modules it calls and, of some rules, the graphs it makes."""

    def keep_module(module: nn.Module, *_: object) -> None:
        given.called.append(module)

    def keep_graph(*arguments: Any, **options: Any) -> torch.cuda.CUDAGraph:
        given.captured.append(graph(*arguments, **options))
        return given.captured[-1]

    graph = torch.cuda.CUDAGraph
    text = io.StringIO()
    hook = nn.modules.module.register_module_forward_hook(keep_module)
    with contextlib.ExitStack() as stack:
        stack.callback(hook.remove)
        stack.enter_context(contextlib.redirect_stdout(text))
        if rule in _DROPPING:
            stack.enter_context(mock.patch.object(torch.cuda, "CUDAGraph", keep_graph))
        yield
    given.printed = text.getvalue()


def _be_the_only_process() -> None:
    """Let `init_process_group` make a group of this process alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
