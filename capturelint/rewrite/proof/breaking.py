"""Capture in pieces, as `breakable_cuda_graphs` does: what is marked ends a graph, runs, begins the next.

By `torch.cuda.graph`, so that it works on a GPU and on the simulator alike.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, cast

import torch

from capturelint.debug.backend import Backend

Segment = Callable[[], object]


class Breaks:
    """Stands for the package: `no_graph` and `is_in_breakable_graph` under these names.

    It keeps what eager pieces are given, where the package keeps views of it.
    """

    def __init__(self) -> None:
        self._segments: list[Segment] | None = None
        self._graph = ExitStack()
        self._pool: Any = None

    def no_graph(
        self, *, capture_stub: Callable[..., Any]
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return a decorator for what runs, in a capture, between two pieces of it.

        `capture_stub`: runs in its place while the pieces are captured.
        """
        return functools.partial(self._marked, capture_stub)

    def _marked(self, stub: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            if self._segments is None:
                return function(*args, **kwargs)
            self._end()
            result = stub(*args, **kwargs)
            self._segments.append(lambda: function(*args, **kwargs))
            self._begin()
            return result

        return wrapper

    def is_in_breakable_graph(self) -> bool:
        """Return whether pieces are being captured."""
        return self._segments is not None

    def captured(self, call: Callable[[], object]) -> Broken:
        """Capture `call` in pieces. Raises what it raises."""
        segments: list[Segment] = []
        self._segments = segments
        self._pool = torch.cuda.graph_pool_handle()
        try:
            self._begin()
            output = call()
            self._end()
        except BaseException:
            # As torch does: the capture ends, whatever that says.
            with ExitStack() as ending:
                ending.callback(self._graph.close)
            raise
        finally:
            self._segments = None
            self._graph = ExitStack()
        return Broken(segments, output)

    def _begin(self) -> None:
        assert self._segments is not None, "pieces are being captured"
        graph = torch.cuda.CUDAGraph()
        self._graph.enter_context(torch.cuda.graph(graph, pool=self._pool))
        self._segments.append(graph.replay)

    def _end(self) -> None:
        self._graph.close()


class Broken:
    """A step that was captured in pieces."""

    is_empty = False

    def __init__(self, segments: list[Segment], output: object) -> None:
        self._segments = segments
        self.output = output

    def __len__(self) -> int:
        return len(self._segments)

    def replay(self) -> None:
        """Run the pieces again, graphs and eager ones in turn."""
        for segment in self._segments:
            segment()

    def unowned(self) -> None:
        """Return None: memory between pieces is not looked at."""
        return

    def close(self) -> None:
        """Give the memory of the graphs back."""
        self._segments.clear()
        self.output = None


def breaking(backend: Backend, breaks: Breaks) -> Backend:
    """Return a backend whose captures are made in pieces, and that is `backend` in all else."""
    return cast("Backend", _Breaking(backend, breaks))


class _Breaking:
    def __init__(self, backend: Backend, breaks: Breaks) -> None:
        self._backend = backend
        self.capture = breaks.captured

    def __getattr__(self, name: str) -> Any:
        return getattr(self._backend, name)
