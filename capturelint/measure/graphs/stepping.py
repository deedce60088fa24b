"""Steps as graphs: which size, what order, which stream; behind `GraphRunner`."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import torch

from capturelint.debug.backend import Backend
from capturelint.debug.backends import chosen, why_no_device
from capturelint.debug.cases.case import Case
from capturelint.debug.instance import modes_of, place_modules
from capturelint.debug.paths import check_globs
from capturelint.debug.running import modules_of, names_of
from capturelint.debug.settings import Settings
from capturelint.measure.graphs.capturing import Building, Captured, Choices
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.graphs.rung import Pad
from capturelint.measure.graphs.sized import checked_sizes

_BACKENDS = ("cuda", "simulated")


class Stepping:
    """The graphs of a case, and what runs a step on them. `captured`: by callable; `sizes` ascend.

    `step`: the number that `prepare` is given next.
    """

    def __init__(
        self,
        case: Case,
        sizes: Sequence[int],
        *,
        pad: str,
        choices: Choices,
        backend: Backend | str | None,
    ) -> None:
        """Capture the graphs. Raises a `CapturelintError` if they cannot be."""
        self.sizes = checked_sizes(sizes)
        self._case = case
        self._choices = choices
        self._pad = _pad(pad)
        _check_globs(case, choices.eager)
        self._lock = threading.RLock()
        self._thread = threading.get_ident()
        self._stream: Any = None
        self.step = 0
        with ExitStack() as opened:
            device = _device(backend, opened)
            place_modules(modules_of(case.named).values(), device, choices.settings)
            self.captured = Building(case, self.sizes, device, choices).captured()
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Give the memory of all graphs back."""
        with self._lock:
            for one in self.captured.values():
                one.close()
            self.captured = {}
            self._opened.close()

    def size_for(self, rows: int) -> int | None:
        """Return the size that so many rows run at, None where they run eagerly."""
        place = bisect_left(self.sizes, rows)
        return self.sizes[place] if rows > 0 and place < len(self.sizes) else None

    def run(self, captured: Captured, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        """Return what one step of a callable returns."""
        if self._choices.is_view and threading.get_ident() != self._thread:
            raise RunnerError("with result='view' only the thread that made the runner may call it")
        with self._lock:
            values = captured.form.values(args, kwargs)
            rows = -1
            for slot, value in zip(captured.slots, values, strict=True):
                rows = slot.rows(value, rows)
            step, self.step = self.step, self.step + 1
            if self._case.prepare is not None:
                self._case.prepare(step)
            size = self.size_for(rows)
            if size is None:
                with modes_of(self._case, self._choices.settings):
                    return captured.run(*args, **kwargs)
            return self._replayed(captured, values, rows, size)

    def _replayed(
        self, captured: Captured, values: Sequence[object], rows: int, size: int
    ) -> object:
        self._order_streams()
        if not torch.is_grad_enabled():
            return self._on_rung(captured, values, rows, size)
        with torch.no_grad():
            return self._on_rung(captured, values, rows, size)

    def _on_rung(
        self, captured: Captured, values: Sequence[object], rows: int, size: int
    ) -> object:
        rung = captured.rungs[size]
        rung.buffers.fill(values, rows, self._pad)
        rung.graph.replay()
        if rung.buffers.written:
            rung.buffers.copy_back(values, rows)
        is_view = self._choices.is_view
        return captured.result.read(rung.graph.output, rows, size=size, is_view=is_view)

    def _order_streams(self) -> None:
        """Let this stream wait for the one that used the buffers last."""
        stream: Any = torch.cuda.current_stream()
        if self._stream is not None and stream != self._stream:
            stream.wait_stream(self._stream)
        self._stream = stream


def _device(backend: Backend | str | None, opened: ExitStack) -> Backend:
    """Return the backend that is asked for. The session of one by name is `opened`."""
    if backend is not None and not isinstance(backend, str):
        return backend
    name = "cuda" if backend is None else backend
    if name not in _BACKENDS:
        raise RunnerError(f"backend is {name!r}; it must be one of {', '.join(_BACKENDS)}")
    missing = "" if name == "simulated" else why_no_device()
    if missing:
        raise RunnerError(
            f'a runner needs a GPU: {missing}; `backend="simulated"` tries it without one'
        )
    device, _ = chosen(Settings(backend=name))
    opened.enter_context(device.session())
    return device


def _pad(value: str) -> Pad:
    try:
        return Pad(value)
    except ValueError:
        allowed = ", ".join(one.value for one in Pad)
        raise RunnerError(f"pad is {value!r}; it must be one of {allowed}") from None


def _check_globs(case: Case, globs: Sequence[str]) -> None:
    named: Mapping[str, Callable[..., object]] = case.named
    check_globs("eager", globs, names_of(named))
