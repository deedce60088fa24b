"""What stays as it is, and why."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from capturelint.verdict import Culprit, Kept, Place


class KeptError(Exception):
    """A function, or a line of it, stays as it is. The text says why."""


def kept(culprits: Iterable[Culprit], why: str) -> Iterator[Kept]:
    """Yield the lines of culprits as those that stay."""
    for one in culprits:
        yield Kept(one.place or Place("", 0), why)
