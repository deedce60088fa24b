"""Names of torch that answer as while capturing, or tell that they were called, during one look."""

# ruff: noqa: SLF001 - by their private names they are called wherever they were imported to
from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any

import torch

from capturelint.debug.cuda.look import Look
from capturelint.debug.cuda.raised import GUARD
from capturelint.debug.dispatched.patches import Patches
from capturelint.debug.dispatched.refusal import (
    CAPTURED_EVENT,
    ISOLATION,
    NEW_SEED,
    NOT_PERMITTED,
    Refusal,
    put_back,
)

_NO_REPLAY = "Cannot prepare for replay during capturing stage. during CUDA graph capture."
_SEED_BYTES = 8  # at the start of a generator's state


def put_questions(patches: Patches, look: Look, new_mode: Callable[[], Any] | None) -> None:
    """Let torch answer as while capturing. `new_mode`: makes a dispatch mode for new threads."""
    _put_answers(patches, look)
    _put_waits(patches, look)
    _put_events(patches, look)
    _put_graphs(patches, look)
    _put_seeds(patches, look)
    _put_warnings(patches, look)
    if new_mode is not None:
        _put_threads(patches, new_mode)


def _put_answers(patches: Patches, look: Look) -> None:
    patches.put(torch._C, "_cuda_isCurrentStreamCapturing", look.is_capturing)
    patches.put(torch.cuda.graphs, "_cuda_isCurrentStreamCapturing", look.is_capturing)

    def is_capturing(stream: Any) -> bool:
        return look.order.is_joined(stream.cuda_stream)

    patches.put(torch.cuda.Stream, "is_capturing", is_capturing)
    if hasattr(torch._C, "_accelerator_getStream"):
        # Its own kind of stream cannot be taught to answer.
        patches.put(torch._C, "_accelerator_getStream", torch.cuda.current_stream)


def _put_waits(patches: Patches, look: Look) -> None:
    for name in ("_cuda_synchronize", "_accelerator_synchronizeDevice"):
        if hasattr(torch._C, name):
            _tell(patches, torch._C, name, lambda *_: look.ask("torch.cuda.synchronize"))
    for name in ("synchronize", "query"):
        operation = f"torch.cuda.Stream.{name}"
        _tell(patches, torch.cuda.Stream, name, lambda *_, of=operation: look.ask(of))


def _put_events(patches: Patches, look: Look) -> None:
    def ask(operation: str, *events: Any) -> None:
        for event in events:
            if event.cuda_event:  # one never recorded is done
                is_captured = look.order.is_captured(event)
                look.ask(operation, CAPTURED_EVENT if is_captured else NOT_PERMITTED)

    def record(event: Any, stream: Any = None) -> None:
        look.order.records(event, _handle(stream))

    def wait(event: Any, stream: Any = None) -> None:
        if not look.order.waits(event, _handle(stream)):
            look.refuse(Refusal(ISOLATION, "stream", "torch.cuda.Event.wait"))

    kind = torch.cuda.Event
    _tell(patches, kind, "query", lambda event: ask("torch.cuda.Event.query", event))
    _tell(patches, kind, "synchronize", lambda event: ask("torch.cuda.Event.synchronize", event))
    _tell(patches, kind, "elapsed_time", lambda *two: ask("torch.cuda.Event.elapsed_time", *two))
    _tell(patches, kind, "record", record)
    _tell(patches, kind, "wait", wait)


def _put_graphs(patches: Patches, look: Look) -> None:
    for name, message in (("capture_begin", NOT_PERMITTED), ("replay", _NO_REPLAY)):
        refusal = Refusal(message, "graph", f"torch.cuda.CUDAGraph.{name}")
        _tell(patches, torch.cuda.CUDAGraph, name, lambda *_a, one=refusal, **_k: look.refuse(one))


def _put_seeds(patches: Patches, look: Look) -> None:
    def seeded(operation: str, seed: int) -> None:
        is_new = seed != torch.cuda.initial_seed()
        new = Refusal(NEW_SEED, "random", operation, sticky=False)
        look.refuse(new if is_new else put_back(operation))

    def set_state(state: torch.Tensor, *_: Any, **__: Any) -> None:
        seed = int(state[:_SEED_BYTES].clone().view(torch.int64))
        seeded("torch.cuda.set_rng_state", seed)

    for owner in (torch.cuda, torch.cuda.random):
        for name in ("manual_seed", "manual_seed_all"):
            operation = f"torch.cuda.{name}"
            _tell(patches, owner, name, lambda seed, of=operation: seeded(of, int(seed)))
        _tell(patches, owner, "set_rng_state", set_state)


def _put_warnings(patches: Patches, look: Look) -> None:
    """Hear torch warn of operations that wait, as its debug mode lets it."""
    show = warnings.showwarning

    def heard(message: Any, *args: Any, **kwargs: Any) -> None:
        if GUARD in str(message):
            look.waited()
        else:
            show(message, *args, **kwargs)

    patches.put(warnings, "showwarning", heard)


def _put_threads(patches: Patches, new_mode: Callable[[], Any]) -> None:
    original = threading.Thread.run

    def run(self: threading.Thread) -> None:
        with new_mode():
            original(self)

    patches.put(threading.Thread, "run", run)


def _tell(patches: Patches, owner: Any, name: str, told: Callable[..., object]) -> None:
    """Let `told` know of each call of a function or method, with its arguments, before it is made."""
    real = getattr(owner, name)

    @wraps(real)
    def telling(*args: Any, **kwargs: Any) -> Any:
        told(*args, **kwargs)
        return real(*args, **kwargs)

    patches.put(owner, name, telling)


def _handle(stream: Any) -> int:
    if stream is None:
        stream = torch.cuda.current_stream()
    if not isinstance(stream, torch.cuda.Stream):  # as `torch.Stream` is
        stream = torch.cuda.Stream(  # type: ignore[no-untyped-call]  # torch leaves it so
            stream_id=stream.stream_id,
            device_index=stream.device_index,
            device_type=stream.device_type,
        )
    return int(stream.cuda_stream)
