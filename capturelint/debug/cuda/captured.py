"""One graph that was captured on the device."""

from __future__ import annotations

from collections.abc import Callable

import torch

from capturelint.debug.cuda.unowned import UnownedMemory


class CapturedGraph:
    """One graph. `output`: what the captured call returned, in the graph's memory.

    `is_empty`: it holds no work at all. `unowned`: finds the memory that nobody owns.
    """

    def __init__(
        self,
        graph: torch.cuda.CUDAGraph,
        output: object,
        *,
        is_empty: bool,
        unowned: Callable[[], UnownedMemory | None],
    ) -> None:
        self._graph = graph
        self.output = output
        self.is_empty = is_empty
        self.unowned = unowned

    def replay(self) -> None:
        """Run the captured work again on what its static inputs hold now."""
        self._graph.replay()

    def close(self) -> None:
        """Give its memory back. It cannot be replayed afterwards."""
        self.output = None
        self._graph.reset()
