"""How deep the calls under way are nested."""

from __future__ import annotations

_DEEPEST = 20


class Depth:
    """Counts the calls that are being evaluated inside one another."""

    def __init__(self) -> None:
        self._depth = 0

    @property
    def may_go_deeper(self) -> bool:
        """Return whether one more call may be evaluated inside those under way."""
        return self._depth < _DEEPEST

    def deeper(self) -> Depth:
        """Return what counts one more call under way while it is entered."""
        return self

    def __enter__(self) -> None:
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
