"""Which streams would be part of a capture, and whose work it would not wait for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from capturelint.verdict import Place

_Clock = dict[int, int]


@dataclass(slots=True)
class Order:
    """The streams that joined a capture that begins on `base`, by their handles.

    A clock says how much work of each stream is done before what is put on this one next.
    """

    base: int
    _clocks: dict[int, _Clock] = field(default_factory=dict)
    _events: dict[int, tuple[Any, _Clock | None]] = field(default_factory=dict)
    _last: dict[int, tuple[Place, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._clocks[self.base] = {}

    def is_joined(self, stream: int) -> bool:
        """Return whether a stream is part of the capture."""
        return stream in self._clocks

    def works(self, stream: int, places: tuple[Place, ...]) -> None:
        """Note that a stream that joined was given work, by the user's frames `places`."""
        clock = self._clocks[stream]
        clock[stream] = clock.get(stream, 0) + 1
        self._last[stream] = places

    def records(self, event: Any, stream: int) -> None:
        """Note that an event was recorded on a stream. It is kept alive, for its identity."""
        clock = self._clocks.get(stream)
        self._events[id(event)] = event, None if clock is None else dict(clock)

    def is_captured(self, event: Any) -> bool:
        """Return whether an event was recorded on a stream of the capture."""
        return self._events.get(id(event), (event, None))[1] is not None

    def waits(self, event: Any, stream: int) -> bool:
        """Let a stream wait for an event. Return whether a capture allows it.

        A stream that waits for a captured event joins. One that has joined may not wait for what
        was recorded elsewhere; an event that was never recorded has no handle and is not waited for.
        """
        known = self._events.get(id(event))
        clock = None if known is None else known[1]
        if clock is not None:
            own = self._clocks.setdefault(stream, {})
            for number, amount in clock.items():
                own[number] = max(amount, own.get(number, 0))
            return True
        is_recorded = known is not None or bool(event.cuda_event)
        return not (is_recorded and self.is_joined(stream))

    def unjoined(self) -> tuple[Place, ...] | None:
        """Return where the work came from that `base` does not wait for, or None if it does."""
        done = self._clocks[self.base]
        for stream, clock in self._clocks.items():
            if stream != self.base and clock.get(stream, 0) > done.get(stream, 0):
                return self._last[stream]
        return None
