"""Graphs that user code captures by itself: one inside a capture is refused, others are not run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import torch

from capturelint.debug.simulated.refusal import NOT_PERMITTED, Refusal

if TYPE_CHECKING:
    from capturelint.debug.simulated.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator

_NO_REPLAY = "Cannot prepare for replay during capturing stage. during CUDA graph capture."


class OwnGraph:
    """A graph that user code made. Making it is allowed, filling or replaying it is not."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator

    @property  # type: ignore[misc]  # only read
    def __class__(self) -> Any:
        """Pass for a graph of torch, whose class needs a CUDA driver."""
        return torch.cuda.CUDAGraph

    def capture_begin(self, *_args: Any, **_options: Any) -> NoReturn:
        self._refuse("torch.cuda.CUDAGraph.capture_begin", NOT_PERMITTED)
        raise self._simulator.cannot_tell("a graph that the code captures by itself")

    def capture_end(self) -> None:
        """Do nothing: it was never begun."""

    def replay(self) -> NoReturn:
        self._refuse("torch.cuda.CUDAGraph.replay", _NO_REPLAY)
        raise self._simulator.cannot_tell("the replay of a graph that the code captured by itself")

    def reset(self) -> None:
        """Do nothing: it holds no memory."""

    def pool(self) -> tuple[int, int]:
        return (0, 0)

    def register_generator_state(self, generator: torch.Generator) -> None:
        """Do nothing: the graph cannot be filled."""

    def _refuse(self, operation: str, message: str) -> None:
        self._simulator.refuse(Refusal(message, "graph", operation))


def put_graphs(patches: Patches, simulator: Simulator) -> None:
    """Let `torch.cuda.CUDAGraph` make graphs that only say what they cannot do."""

    def new_graph(cls: type, *_args: Any, **_options: Any) -> Any:  # noqa: ARG001 - as torch calls it
        return OwnGraph(simulator)

    graphs = torch.cuda.graphs
    patches.put(torch.cuda.CUDAGraph, "__new__", staticmethod(new_graph))
    patches.put(graphs, "_cuda_isCurrentStreamCapturing", simulator.is_capturing_here)
    patches.put(graphs, "_graph_pool_handle", lambda: (0, 1))
