"""Steps as graphs: which size, what order, which stream; behind `GraphRunner`."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import torch

from capturelint.debug.backend import Backend, BackendError
from capturelint.debug.backends import chosen, why_no_device
from capturelint.debug.cases.case import Case
from capturelint.debug.instance import modes_of, place_modules
from capturelint.debug.paths import check_globs
from capturelint.debug.running import modules_of, names_of
from capturelint.debug.settings import Settings
from capturelint.measure.graphs.capturing import Building, Captured, Choices
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.graphs.outputs import without_gradients
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
            device = _device(backend, choices.settings, opened)
            self._device = torch.cuda.current_device()  # a thread may go to another one
            place_modules(modules_of(case.named).values(), device, choices.settings)
            self.captured = Building(case, self.sizes, device, choices).captured()
            self._opened = opened.pop_all()
        self._order_streams()

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

    def named(self, name: str) -> Captured:
        """Return a callable with its graphs. Raises `RunnerError` if there is none, or not any more."""
        found = self.captured.get(name)
        if found is not None:
            return found
        if name in self._case.named:
            raise RunnerError("the runner is closed; make another")
        known = ", ".join(one or "only one, without a name" for one in self._case.named)
        raise RunnerError(f"the case has no callable {name!r}; it has {known}")

    def run(self, name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> object:
        """Return what one step of a callable returns."""
        if self._choices.is_view and threading.get_ident() != self._thread:
            raise RunnerError("with result='view' only the thread that made the runner may call it")
        with self._lock:
            captured = self.named(name)
            values = captured.form.values(args, kwargs)
            rows = -1
            for slot, value in zip(captured.slots, values, strict=True):
                rows = slot.rows(value, rows)
            step, self.step = self.step, self.step + 1
            if self._case.prepare is not None:
                self._case.prepare(step)
            self._order_streams()
            size = self.size_for(rows)
            if size is None:
                with modes_of(self._case, self._choices.settings):
                    return without_gradients(captured.run(*args, **kwargs))
            return self._replayed(captured, values, rows, size)

    def _replayed(
        self, captured: Captured, values: Sequence[object], rows: int, size: int
    ) -> object:
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
        return captured.result.read(
            rung.graph.output,
            rows,
            size=size,
            shared=rung.buffers.shared,
            is_view=self._choices.is_view,
        )

    def _order_streams(self) -> None:
        """Let this stream wait for the one that ran the last step."""
        stream: Any = torch.cuda.current_stream(self._device)
        if self._stream is not None and stream != self._stream:
            stream.wait_stream(self._stream)
        self._stream = stream


def _device(backend: Backend | str | None, settings: Settings, opened: ExitStack) -> Backend:
    """Return the backend that is asked for. The session of one by name is `opened`."""
    if hasattr(backend, "capture"):
        return backend  # type: ignore[return-value] # one of its own
    name = "cuda" if backend is None else backend
    if name not in _BACKENDS:
        raise RunnerError(f"backend is {name!r}; it must be one of {', '.join(_BACKENDS)}")
    missing = "" if name == "simulated" else why_no_device()
    if missing:
        raise RunnerError(
            f'a runner needs a GPU: {missing}; `backend="simulated"` tries it without one'
        )
    device, _ = chosen(replace(settings, backend=name))
    try:
        opened.enter_context(device.session())
    except BackendError as error:
        raise RunnerError(f"{error}; close the other runner, or leave that mode, first") from error
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
