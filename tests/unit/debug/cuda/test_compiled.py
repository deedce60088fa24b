"""Whether a case uses `torch.compile` is noted where it does."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import torch
import torch.fx

if TYPE_CHECKING:
    from tests.conftest import InFork


def test_a_use_inside_is_noted_and_torch_is_as_before(in_fork: InFork) -> None:
    def body() -> None:
        from capturelint.debug.cuda.compiled import Compiling

        # Tests in the process that this is a fork of may have compiled something.
        counters: Any = import_module("torch._dynamo.utils").counters
        counters.clear()
        before = torch.compile, vars(torch.nn.Module)["compile"]
        compiling = Compiling()
        seen = [compiling.is_used]
        with compiling.watching():
            seen.append(compiling.is_used)
            torch.compile(torch.nn.Linear(1, 1), backend="eager")
            seen.append(compiling.is_used)

        assert seen == [False, False, True]
        assert (torch.compile, vars(torch.nn.Module)["compile"]) == before

    in_fork(body)


def test_what_is_compiled_runs_eagerly_where_that_is_asked_for(in_fork: InFork) -> None:
    def body() -> None:
        from capturelint.debug.cuda.compiled import Compiling

        calls = []

        def backend(graph: torch.fx.GraphModule, _: object) -> object:
            calls.append(graph)
            return graph.forward

        compiling = Compiling()
        with compiling.watching():
            double = torch.compile(lambda x: x * 2, backend=backend)
        with compiling.eagerly():
            assert double(torch.ones(1)).item() == 2
        assert calls == []
        double(torch.ones(1))
        assert len(calls) == 1

    in_fork(body)
