"""The backend on a GPU: what it captures and replays, CUDA captures and replays."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar, cast

import torch
from torch import nn

from capturelint.debug.backend import BackendError, Counts
from capturelint.debug.cuda import history
from capturelint.debug.cuda.captured import CapturedGraph
from capturelint.debug.cuda.compiled import Compiling
from capturelint.debug.cuda.device import CudaDevice, facts, moved_together
from capturelint.debug.cuda.explained import with_refusals
from capturelint.debug.cuda.graphs import Graphs
from capturelint.debug.cuda.looking import looking, on_stream
from capturelint.debug.cuda.modes import RecordingMode, all_seen
from capturelint.debug.cuda.nodes import kept_graph, kernels_run, nodes_of
from capturelint.debug.cuda.triton_kernels import kernels_recorded
from capturelint.debug.dispatched.differ import frozen_values
from capturelint.debug.dispatched.flags import engines_told
from capturelint.debug.dispatched.launches import Launches
from capturelint.debug.placing import placed
from capturelint.debug.seeding import seed_all
from capturelint.verdict import Frozen, Hazard, Place

_Value = TypeVar("_Value")


class CudaBackend:
    """The current device. `capture_error_mode`: `global`, `thread_local` or `relaxed`."""

    name = "cuda"

    def __init__(self, capture_error_mode: str = "global") -> None:
        self._mode = capture_error_mode
        self._active: Graphs | None = None
        self._compiling = Compiling()
        self._listed: dict[tuple[str, int], Hazard] = {}

    @property
    def graphs(self) -> Graphs:
        """Return what captures in the session that is open."""
        if self._active is None:
            raise BackendError("the device is used outside a session; open one first")
        return self._active

    @contextmanager
    def session(self) -> Iterator[None]:
        """Return a context in which user code runs. Raises BackendError if the device does not work."""
        try:
            torch.zeros(1, device="cuda")
            graphs = Graphs(self._mode)
        except RuntimeError as error:
            text = str(error).strip().splitlines()[0]
            raise BackendError(f"the device cannot be used: {text}; try nvidia-smi") from error
        self._active, before = graphs, self._active
        try:
            with self._compiling.watching():
                yield
        finally:
            self._active = before
            graphs.close()

    def place(self, value: _Value) -> _Value:
        """Return `value` on the device: a module, or any tree of tensors made on the host."""
        if isinstance(value, nn.Module):
            return value.cuda()
        return placed(value, moved_together)

    def seed(self, seed: int) -> None:
        """Seed Python's, numpy's and torch's generators, on the host and on the device."""
        seed_all(seed)

    @contextmanager
    def warming_up(self) -> Iterator[None]:
        """Return a context that runs work on a side stream, as before a capture."""
        with on_stream(self.graphs.stream):
            yield

    def capture(self, call: Callable[[], object]) -> CapturedGraph:
        """Capture `call`. Raises what it raised, or what ending the capture raised.

        Operations that wait for the device are stopped by torch; the error says what CUDA would.
        """
        graphs = self.graphs
        try:
            with engines_told():
                return graphs.captured(call)
        except Exception as error:
            with_refusals(error, graphs.seen, self._listed)
            raise

    def counts(self, call: Callable[[], object]) -> Counts | None:
        """Return what one call runs eagerly and what a graph of it holds, None if it is not told."""
        graph = kept_graph()
        if graph is None:
            return None
        with engines_told():
            captured = self.graphs.captured(call, graph)
        nodes = nodes_of(graph)
        captured.close()
        kernels = None if nodes is None else kernels_run(call)
        return None if nodes is None or kernels is None else Counts(kernels, *nodes)

    @contextmanager
    def as_if_capturing(
        self, module: Callable[[], str], *, compiled: bool = False
    ) -> Iterator[list[Hazard]]:
        """Return a context that runs eagerly as if capturing and fills the list with hazards."""
        listed: list[Hazard] = []
        stream = self.graphs.stream
        context = looking(module, stream=stream, mode=self._mode, compiled=compiled)
        hazards = None
        try:
            eager = nullcontext() if compiled else self.eagerly()
            with eager, engines_told(), context as hazards:
                yield listed
        finally:
            listed.extend([] if hazards is None else hazards.listed())
            for one in listed:
                self._listed.setdefault((one.place.path, one.place.line), one)

    @contextmanager
    def _recording(self) -> Iterator[Launches]:
        launches = Launches(CudaDevice())
        seen = kernels_recorded(launches)
        with self.eagerly(), all_seen(), seen, RecordingMode(launches):
            yield launches

    def freed(
        self, call: Callable[[], object], after: Callable[[], object], line: tuple[str, int]
    ) -> Place | None:
        """Return the line that frees, in `after`, memory that `call` is given at `line`, if any."""
        if not history.is_told():
            return None
        reads = history.Reads(CudaDevice())
        with self.eagerly(), all_seen(), kernels_recorded(reads), RecordingMode(reads):
            call()
        addresses = reads.addresses(line)

        def free() -> None:
            after()
            gc.collect()

        return history.freed_at(history.events_of(free), addresses)

    def recording(self) -> AbstractContextManager[Any]:
        """Return a context whose value records what an eager call launches, for `frozen`."""
        return self._recording()

    def frozen(self, first: object, second: object) -> tuple[Frozen, ...]:
        """Return what a graph would bake in: what differs between the recordings of two calls."""
        return frozen_values(cast("Launches", first), cast("Launches", second))

    def launched(self, recording: object) -> Launches:
        """Return what a recorded call launched."""
        return cast("Launches", recording)

    def unsupported(self) -> tuple[str, ...]:
        """Return nothing: the device runs what it runs."""
        return ()

    def runs_compiled(self) -> bool:
        """Return whether the case uses `torch.compile`."""
        return self._compiling.is_used

    def eagerly(self) -> AbstractContextManager[None]:
        """Return a context in which compiled code runs eagerly, so that operations can be watched."""
        return self._compiling.eagerly()

    def allocated(self) -> int | None:
        """Return the bytes that tensors hold on the device now."""
        torch.cuda.synchronize()
        return torch.cuda.memory_allocated()

    def spent(self) -> str:
        """Return why this process cannot go on with the device, or "" if it can."""
        graphs = self.graphs
        return graphs.broken or graphs.lost()

    def notes(self) -> tuple[str, ...]:
        """Return what the user must know about this run."""
        return tuple(dict.fromkeys(self.graphs.notes))

    def environment(self) -> Mapping[str, str]:
        """Return versions and devices, by name."""
        return {**facts(), "capture error mode": self._mode}
