"""What is seen of an eager run that is made as if capturing: each hazard with the user's line."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch._ops import OpOverload

from capturelint.debug.cuda.device import CudaDevice
from capturelint.debug.cuda.order import Order
from capturelint.debug.dispatched.arguments import is_on_device, names_device
from capturelint.debug.dispatched.hazards import Hazards
from capturelint.debug.dispatched.refusal import NOT_PERMITTED, UNJOINED, UNPINNED, Refusal
from capturelint.debug.dispatched.schema import Schema, schema_of
from capturelint.debug.dispatched.streams import refusal_outside
from capturelint.debug.dispatched.tensors import tensors_in
from capturelint.debug.dispatched.traps import refusal_of
from capturelint.debug.frames import users_frames

# Of what operation a line waits for the device where none was seen.
SYNCHRONIZING = "a synchronizing operation"
# These copy between host and device; not all of those that a capture refuses wait for it eagerly.
_COPIES = frozenset({"_to_copy", "copy_", "_foreach_copy_"})


class Look:
    """Gathers hazards. `order`: of the streams. `mode`: of the capture that it is as if.

    Hazards without a line of the user's are not listed: they are our own doing.
    """

    def __init__(self, hazards: Hazards, device: CudaDevice, order: Order, mode: str) -> None:
        self.hazards = hazards
        self.order = order
        self._device = device
        self._mode = mode
        self._thread = threading.get_ident()
        self._running = threading.local()

    def refuse(self, refusal: Refusal) -> None:
        """List what a capture would refuse or freeze, at the user's line that runs."""
        places = users_frames()
        if places:
            self.hazards.add(refusal, places)

    def ask(self, operation: str, message: str = NOT_PERMITTED) -> None:
        """List a call that waits for the device or asks how far it is."""
        self.refuse(Refusal(message, "stream", operation, code="CL701"))

    def waited(self) -> None:
        """List that the operation that runs made the host wait, as torch has just warned."""
        running = getattr(self._running, "call", None)
        if running is None:
            self.refuse(Refusal(NOT_PERMITTED, "host-read", SYNCHRONIZING))
            return
        if self._running.is_told:
            return
        self._running.is_told = True
        func, args, kwargs = running
        known = refusal_of(func, args, kwargs, self._device)
        self.refuse(known or Refusal(NOT_PERMITTED, "host-read", str(func)))

    @contextmanager
    def running(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Iterator[None]:
        """Give a context for one operation, which is looked at first."""
        before = getattr(self._running, "call", None), getattr(self._running, "is_told", False)
        self._running.call, self._running.is_told = (func, args, kwargs), False
        try:
            self._meet(schema_of(func), func, args, kwargs)
            yield
        finally:
            self._running.call, self._running.is_told = before

    def end(self) -> None:
        """List work on another stream that nothing waits for."""
        places = self.order.unjoined()
        if places:
            self.hazards.add(Refusal(UNJOINED, "stream", "capture end", sticky=False), places)

    def current(self) -> int:
        """Return the handle of the current stream."""
        return int(torch.cuda.current_stream().cuda_stream)

    def is_capturing(self) -> bool:
        """Return what user code is told: whether the current stream is part of the capture."""
        return self.order.is_joined(self.current())

    def _meet(
        self, schema: Schema, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        given = [*args, *kwargs.values()]
        takes = any(is_on_device(tensor) for tensor in tensors_in(given))
        target = kwargs.get("device")
        makes = takes if target is None else names_device(target)
        if not takes and not makes:
            return
        self._look_at_stream(schema, takes_memory=makes and not takes)
        generator = kwargs.get("generator")
        if schema.short in _COPIES or generator is not None:
            refusal = refusal_of(func, args, kwargs, self._device)
            # Others than unpinned copies show themselves by waiting.
            if refusal is not None and (generator is not None or refusal.message == UNPINNED):
                self._running.is_told = True
                self.refuse(refusal)

    def _look_at_stream(self, schema: Schema, *, takes_memory: bool) -> None:
        stream = self.current()
        if self.order.is_joined(stream):
            if stream != self.order.base and not schema.is_view:
                self.order.works(stream, users_frames())
            return
        refusal = refusal_outside(
            schema,
            capture_error_mode=self._mode,
            is_elsewhere=threading.get_ident() != self._thread,
            is_on_default=stream == 0,
            takes_memory=takes_memory,
        )
        if refusal is not None:
            self.refuse(refusal)
