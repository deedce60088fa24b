"""How deep the calls under way are nested."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

_DEEPEST = 20


class Depth:
    """Counts the calls that are being evaluated inside one another."""

    def __init__(self) -> None:
        self._depth = 0

    @property
    def may_go_deeper(self) -> bool:
        """Return whether one more call may be evaluated inside those under way."""
        return self._depth < _DEEPEST

    @contextmanager
    def deeper(self) -> Iterator[None]:
        """Count one more call under way."""
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
