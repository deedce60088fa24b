"""The few colours of a report, or none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Style:
    """Dresses text for a terminal when `color` is on; else returns it as it is."""

    color: bool

    def strong(self, text: str) -> str:
        """Return text that stands out: a place, the summary."""
        return self._in("1", text)

    def bad(self, text: str) -> str:
        """Return text that says what is wrong."""
        return self._in("1;31", text)

    def loud(self, text: str) -> str:
        """Return text that nobody should miss."""
        return self._in("1;33", text)

    def dim(self, text: str) -> str:
        """Return text that may be passed over: a hint."""
        return self._in("2", text)

    def _in(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self.color else text
