"""Graphs that user code captures by itself: eagerly they work, inside a capture they are refused."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import torch

from capturelint.debug.dispatched.refusal import NOT_PERMITTED, Refusal, SimulatedCaptureError
from capturelint.debug.simulated.capture import capturing

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator
    from capturelint.debug.simulated.tape import Tape

_NO_REPLAY = "Cannot prepare for replay during capturing stage. during CUDA graph capture."


class OwnGraph:
    """A graph that user code made. `tape`: what it holds once it was filled, None before.

    As if capturing, what fills it runs at once, and a replay runs what it held before.
    """

    __slots__ = ("_filling", "_simulator", "tape")

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._filling = ExitStack()
        self.tape: Tape | None = None

    @property  # type: ignore[misc]  # only read
    def __class__(self) -> Any:
        """Pass for a graph of torch, whose class needs a CUDA driver."""
        return torch.cuda.CUDAGraph

    def capture_begin(self, *_args: Any, **_options: Any) -> None:
        self._refuse("torch.cuda.CUDAGraph.capture_begin", NOT_PERMITTED)
        outer = self._simulator.capture
        if outer is None:
            self.tape = self._filling.enter_context(capturing(self._simulator))
        else:  # the stream that torch puts the work on never joined
            self._filling.enter_context(self._simulator.streams.using(outer.stream))

    def capture_end(self) -> None:
        capture = self._simulator.capture
        swallowed = None if capture is None else capture.invalid
        refusal = sys.exc_info()[1] or swallowed
        try:
            self._filling.close()
        except SimulatedCaptureError as error:
            # The stack forgets why this is raised.
            error.__context__ = refusal
            raise

    def replay(self) -> None:
        self._refuse("torch.cuda.CUDAGraph.replay", _NO_REPLAY)
        if self.tape is not None:
            self.tape.replay(self._simulator.random)

    def reset(self) -> None:
        if self.tape is not None:
            self.tape.close()
        self.tape = None

    def pool(self) -> tuple[int, int]:
        return (0, 0)

    def register_generator_state(self, generator: torch.Generator) -> None:
        """Do nothing: the numbers of a generator of the device advance with each replay anyway."""

    def _refuse(self, operation: str, message: str) -> None:
        self._simulator.refuse(Refusal(message, "graph", operation))


def put_graphs(patches: Patches, simulator: Simulator) -> None:
    """Let `torch.cuda.CUDAGraph` make graphs of the simulated device."""

    def new_graph(cls: type, *_args: Any, **_options: Any) -> Any:  # noqa: ARG001 - as torch calls it
        return OwnGraph(simulator)

    graphs = torch.cuda.graphs
    patches.put(torch.cuda.CUDAGraph, "__new__", staticmethod(new_graph))
    patches.put(graphs, "_cuda_isCurrentStreamCapturing", simulator.is_capturing_here)
    patches.put(graphs, "_graph_pool_handle", lambda: (0, 1))
    # Torch keeps the stream that it captures on, which would be one of an earlier session.
    patches.put(torch.cuda.graph, "default_capture_stream", None)
