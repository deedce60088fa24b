"""Graphs that the code captures or replays by itself: eagerly they work, inside a capture not."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH, x, zeros


class Kept(nn.Module):
    """Captures once, and replays in each call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.graph: torch.cuda.CUDAGraph | None = None
        self.input, self.output = zeros(), zeros()

    def forward(self, x: Tensor) -> Tensor:
        if self.graph is None:
            self.linear(x)
            self.graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(self.graph):
                self.output = self.linear(self.input)
        self.input.copy_(x)
        self.graph.replay()  # blamed: a_graph_that_is_kept
        return self.output.clone()


def a_graph_that_is_kept() -> object:
    """refuses-capture."""
    return nn.Sequential(nn.Linear(WIDTH, WIDTH), Kept()), x()


class Fresh(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):  # blamed: a_graph_for_each_call
            y = x * 2
        graph.replay()  # blamed: a_graph_for_each_call
        return y


def a_graph_for_each_call() -> object:
    """refuses-capture."""
    return Fresh(), x()
