"""What is seen of an eager run that is made as if capturing: each hazard with the user's line."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

import torch
from torch._ops import OpOverload

from capturelint.debug.cuda.device import CudaDevice
from capturelint.debug.cuda.order import Order
from capturelint.debug.dispatched.arguments import is_on_device, names_device
from capturelint.debug.dispatched.hazards import Hazards
from capturelint.debug.dispatched.refusal import NOT_PERMITTED, UNJOINED, UNPINNED, Refusal
from capturelint.debug.dispatched.schema import Schema, schema_of
from capturelint.debug.dispatched.streams import refusal_elsewhere, refusal_outside
from capturelint.debug.dispatched.tensors import tensors_in
from capturelint.debug.dispatched.traps import refusal_of
from capturelint.debug.frames import users_frames
from capturelint.verdict import Place

# Of what operation a line waits for the device where none was seen.
SYNCHRONIZING = "a synchronizing operation"
# These copy between host and device; not all of those that a capture refuses wait for it eagerly.
_COPIES = frozenset({"_to_copy", "copy_", "_foreach_copy_"})


_REMEMBERED = 64  # operations that one call may run


@dataclass(frozen=True, slots=True)
class _Ran:
    """An operation, and the user's line that ran it. `refusal`: what the table says of it."""

    line: tuple[str, int]
    operation: str
    refusal: Refusal | None
    is_told: bool


class Look:
    """Gathers hazards. `order`: of the streams. `mode`: of the capture that it is as if.

    `home`: ordinal of the device that is captured on; None where there is only one.
    Hazards without a line of the user's are not listed: they are our own doing.
    """

    def __init__(
        self,
        hazards: Hazards,
        device: CudaDevice,
        order: Order,
        mode: str,
        *,
        home: int | None = None,
    ) -> None:
        self.hazards = hazards
        self.order = order
        self._device = device
        self._mode = mode
        self._home = home
        self._thread = threading.get_ident()
        self._waits = threading.local()

    def refuse(self, refusal: Refusal) -> None:
        """List what a capture would refuse or freeze, at the user's line that runs."""
        places = users_frames()
        if places:
            self.hazards.add(refusal, places)

    def ask(self, operation: str, message: str = NOT_PERMITTED) -> None:
        """List a call that waits for the device or asks how far it is."""
        self.refuse(Refusal(message, "stream", operation, code="CL701"))

    def waited(self) -> None:
        """List that an operation made the host wait, as torch warns once the call is over.

        What the user's line called may have run several; the one that the table knows is taken.
        """
        places = users_frames()
        if not places:
            return
        line = _line(places)
        here = [one for one in self._ran if one.line == line]
        if not here and line == self._waits.line:
            return  # the same call waits again
        self._ran.clear()
        self._waits.line = line
        if any(one.is_told for one in here):
            return
        known = next((one.refusal for one in reversed(here) if one.refusal is not None), None)
        operation = here[-1].operation if here else SYNCHRONIZING
        self.hazards.add(known or Refusal(NOT_PERMITTED, "host-read", operation), places)

    def meet(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Look at an operation that is about to run."""
        schema = schema_of(func)
        given = [*args, *kwargs.values()]
        taken = [tensor for tensor in tensors_in(given) if is_on_device(tensor)]
        takes = bool(taken)
        target = kwargs.get("device")
        makes = takes if target is None else names_device(target)
        if not takes and not makes:
            return
        if self._is_elsewhere(taken, target):
            self._refuse_any(refusal_elsewhere(schema))
        else:
            self._look_at_stream(schema, takes_memory=makes and not takes)
        refusal = refusal_of(func, args, kwargs, self._device)
        # Others than unpinned copies show themselves by waiting.
        is_told = refusal is not None and (
            kwargs.get("generator") is not None
            or (schema.short in _COPIES and refusal.message == UNPINNED)
        )
        if refusal is not None and is_told:
            self.refuse(refusal)
        if not schema.is_view:
            self._ran.append(_Ran(_line(users_frames(limit=1)), str(func), refusal, is_told))

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

    @property
    def _ran(self) -> deque[_Ran]:
        """Return what this thread ran last, since it was last told to wait."""
        if not hasattr(self._waits, "ran"):
            self._waits.ran = deque(maxlen=_REMEMBERED)
            self._waits.line = None
        ran: deque[_Ran] = self._waits.ran
        return ran

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
        self._refuse_any(refusal)

    def _refuse_any(self, refusal: Refusal | None) -> None:
        if refusal is not None:
            self.refuse(refusal)

    def _is_elsewhere(self, taken: list[torch.Tensor], target: Any) -> bool:
        """Return whether an operation is all on devices that are no part of the capture."""
        if self._home is None:
            return False
        ordinals = {ordinal_of(tensor) for tensor in taken}
        if target is not None:
            ordinals.add(torch.device(target).index)
        if not ordinals or None in ordinals or self._home in ordinals:
            return False
        return not any(self.order.is_joined(stream_of(one)) for one in ordinals)


def ordinal_of(tensor: torch.Tensor) -> int | None:
    """Return the ordinal of the device that a tensor lies on."""
    return tensor.device.index


def stream_of(ordinal: int | None) -> int:
    """Return the handle of the current stream of a device."""
    return int(torch.cuda.current_stream(ordinal).cuda_stream)


def _line(places: tuple[Place, ...]) -> tuple[str, int]:
    return (places[0].path, places[0].line) if places else ("", 0)
