"""Capture on a stream of its own, into a pool that all graphs share, and clear up after failures."""

# ruff: noqa: SLF001 - pools can be given back by private names only
from __future__ import annotations

import gc
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import torch

from capturelint.debug.backend import SpentError
from capturelint.debug.chains import chain_of
from capturelint.debug.cuda.captured import CapturedGraph
from capturelint.debug.cuda.raised import GUARD, Raised, errors_raised
from capturelint.debug.cuda.unowned import UnownedMemory, too_large, why_not
from capturelint.debug.dispatched.refusal import INVALIDATED
from capturelint.debug.sync_mode import OnSync, on_sync

# How torch warns at the end of a capture that recorded nothing (2.6 to 2.13).
_EMPTY = "The CUDA Graph is empty"
_OUTSIDE = "Offset increment outside graph capture"
# The handle stays broken for eager calls too (`torch.linalg.eigh`, H200, torch 2.11), unless it
# could not be made.
_BREAKS_HANDLES = re.compile("when calling `cusolver(?!DnCreate)")


class CaptureError(RuntimeError):
    """A capture that CUDA would have ended badly: an error in it was swallowed."""


class Graphs:
    """Makes graphs one after another. `stream`: that captures. `mode`: as torch has it.

    `seen`: the first error of the last capture, also if it was swallowed. `broken`: what a failed
    capture left unusable, in words, or "". `notes`: what a report must say.

    Synchronizing operations raise before CUDA is asked, which leaves the process clean.
    """

    def __init__(self, mode: str) -> None:
        self.stream: torch.cuda.Stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        self._mode = mode
        self._pool: Any = None
        self._anchor: torch.cuda.CUDAGraph | None = None
        self.seen = Raised()
        self.broken = ""
        self.notes: list[str] = []

    def captured(
        self, call: Callable[[], object], graph: torch.cuda.CUDAGraph | None = None
    ) -> CapturedGraph:
        """Capture `call`, into `graph` if one is given. Raises what it, or ending the capture, raised.

        `seen` then holds the first error of it, also if it was swallowed. Streams, debug modes and
        garbage collection are as before, and random numbers can be drawn. Raises `SpentError` if
        the device is lost.
        """
        why = self.lost()
        if why:
            raise SpentError(why)
        pool = self._shared_pool()
        # As `torch.cuda.graph` does: memory for other streams and threads must be taken anew.
        torch.cuda.empty_cache()
        graph = torch.cuda.CUDAGraph() if graph is None else graph
        try:
            with _no_collection(), torch.cuda.stream(self.stream):
                output, is_empty = self._run(graph, pool, call)
        except BaseException as error:
            self._clear_up(error, graph, pool)
            raise
        if self.seen.error is not None and GUARD in str(self.seen.error):
            # Without the guard CUDA would have been asked, and the capture invalid.
            del output
            graph.reset()
            raise CaptureError(INVALIDATED) from None
        return CapturedGraph(graph, output, is_empty=is_empty, unowned=partial(self._unowned, pool))

    def lost(self) -> str:
        """Return why the device cannot be used any more in this process, or "". Waits for it."""
        try:
            torch.cuda.synchronize()
            torch.rand(1, device="cuda")
        except torch.OutOfMemoryError:
            return ""  # it is full, and there
        except RuntimeError as error:
            if _OUTSIDE not in str(error):
                return f"the device is lost: {_first_line(error)}"
        else:
            return ""
        # Only a capture that ends well lets random numbers be drawn again.
        try:
            self._drop_pool()
            self._shared_pool()
            torch.rand(1, device="cuda")
        except RuntimeError as error:
            return f"a failed capture left the device unusable: {_first_line(error)}"
        return ""

    def close(self) -> None:
        """Give the memory of the shared pool back."""
        self._drop_pool()

    def _run(
        self, graph: torch.cuda.CUDAGraph, pool: Any, call: Callable[[], object]
    ) -> tuple[object, bool]:
        """Return what `call` returned, and whether it recorded nothing."""
        graph.capture_begin(pool=pool, capture_error_mode=self._mode)
        try:
            with on_sync(OnSync.RAISE), errors_raised() as self.seen:
                output = call()
        except BaseException:
            # What ends it badly follows from the first error, which the caller gets.
            with suppress(RuntimeError):
                self._end(graph)
            raise
        return output, self._end(graph)

    def _unowned(self, pool: Any) -> UnownedMemory | None:
        why = why_not()
        if why:
            self.notes.append(f"reads of freed memory were not looked for: {why}")
            return None
        rest = too_large(tuple(pool))
        if rest:
            self.notes.append(f"free memory was not written over: {rest}, for reads of it")
        return UnownedMemory(tuple(pool))

    def _end(self, graph: torch.cuda.CUDAGraph) -> bool:
        """End the capture. Return whether it recorded nothing, which torch would warn of."""
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            self._end_where_begun(graph)
        others = [one for one in told if _EMPTY not in str(one.message)]
        for one in others:
            warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
        return len(others) < len(told)

    def _end_where_begun(self, graph: torch.cuda.CUDAGraph) -> None:
        try:
            graph.capture_end()
        except RuntimeError:
            if torch.cuda.current_stream() != self.stream:
                # The code left another stream current: nothing was ended yet.
                with suppress(RuntimeError), torch.cuda.stream(self.stream):
                    graph.capture_end()
            raise

    def _clear_up(self, error: BaseException, graph: torch.cuda.CUDAGraph, pool: Any) -> None:
        """Make the process fit again after a failed capture, if it can be. Raises `SpentError`."""
        # What the code held when it failed lies in the pool that is to be given back.
        for one in chain_of(error):
            traceback.clear_frames(one.__traceback__)
        with suppress(RuntimeError):
            graph.reset()
        if _leave(pool):
            self._drop_pool()
        if _BREAKS_HANDLES.search(str(error)):
            self.broken = f"a failed capture left a library unusable: {_first_line(error)}"
        why = self.lost()
        if why:
            raise SpentError(why)

    def _shared_pool(self) -> Any:
        """Return the pool, which an empty graph keeps alive between others."""
        if self._anchor is None:
            pool = torch.cuda.graph_pool_handle()
            anchor = torch.cuda.CUDAGraph()
            torch.cuda.synchronize()
            with _no_collection(), torch.cuda.stream(self.stream):
                anchor.capture_begin(pool=pool, capture_error_mode=self._mode)
                try:
                    torch.rand(1, device="cuda")
                finally:
                    anchor.capture_end()
            self._pool, self._anchor = pool, anchor
        return self._pool

    def _drop_pool(self) -> None:
        anchor, self._anchor, self._pool = self._anchor, None, None
        if anchor is not None:
            with suppress(RuntimeError):
                anchor.reset()


def _leave(pool: Any) -> bool:
    """Let the allocator leave a pool that it is still in. Return whether it was.

    So it is after a capture that CUDA ended badly (torch 2.11), and the pool is kept for good.
    """
    device = torch.cuda.current_device()
    bindings: Any = torch._C
    end = getattr(bindings, "_cuda_endAllocateToPool", None)  # named otherwise before torch 2.8
    if end is None:
        return True
    try:
        end(device, pool)
    except RuntimeError:  # it has left it, as it does when a capture ends well
        return False
    with suppress(RuntimeError):
        bindings._cuda_releasePool(device, pool)
    return True


@contextmanager
def _no_collection() -> Iterator[None]:
    """Hold the garbage collector off: what it frees may not be freed while capturing."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
