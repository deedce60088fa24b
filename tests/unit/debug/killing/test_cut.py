"""The beginning of a run ends where it is cut, whatever finalizers and the garbage collector run."""

from __future__ import annotations

import gc

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.killing.cut import Cut, contents_seen, cut_off


class Finalized:
    def __del__(self) -> None:
        self.is_gone = True


class Drops(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        held = [Finalized()]
        held.clear()
        return x * 2


class Makes(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        lists = [[number] for number in range(1000)]
        return x * len(lists)


# What a finalizer raises is told as a warning.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_run_that_is_cut_in_a_finalizer_ends_before_the_next_operation() -> None:
    module = Drops()
    ends = [cut_off(module, Cut(lines=count), [module])(torch.ones(2)) for count in (1, 2, 3)]

    assert ends == [None, None, None]


def test_what_the_garbage_collector_calls_is_no_line_of_a_call() -> None:
    module = Makes()

    def collected(phase: str, info: dict[str, int]) -> None:
        info[phase] = 1

    gc.callbacks.append(collected)
    threshold = gc.get_threshold()
    gc.set_threshold(10)
    try:
        with contents_seen(module, (), lambda _: "", [module]) as contents:
            module(torch.ones(2))
    finally:
        gc.set_threshold(*threshold)
        gc.callbacks.remove(collected)

    assert {one.function.rpartition(".")[2] for one in contents.lines} <= {"forward", "<listcomp>"}
    assert gc.isenabled()
