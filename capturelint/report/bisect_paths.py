"""Many module paths in few words: `layers.1 .. layers.31`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from capturelint.report.excerpt import printable
from capturelint.verdict import ROOT

_MOST = 4


def shortened(paths: Iterable[str]) -> str:
    """Return paths in their order; those that only count up in one number become a range."""
    shown: list[str] = []
    for _, run in groupby(_runs(list(paths)), key=lambda pair: pair[0]):
        members = [printable(path) or ROOT for _, path in run]
        first, last = members[0], members[-1]
        shown += members if len(members) < 3 else [f"{first} .. {last}"]
    more = len(shown) - _MOST
    return ", ".join(shown if more <= 1 else [*shown[:_MOST], f"and {more} more"])


def _runs(paths: Sequence[str]) -> list[tuple[int, str]]:
    """Return each path with the number of the run that it belongs to."""
    numbered: list[tuple[int, str]] = []
    place: int | None = None
    run = 0
    for path in paths:
        if numbered:
            step = _counted_up(numbered[-1][1], path)
            # A run counts up in one place only: layers.0.1 does not follow layers.0.0 and layers.1.0.
            continues = step is not None and place in (None, step)
            place = step if continues else None
            run += not continues
        numbered.append((run, path))
    return numbered


def _counted_up(before: str, after: str) -> int | None:
    """Return the place of the one name that is a number and one more in `after`, or None."""
    old, new = before.split("."), after.split(".")
    if len(old) != len(new):
        return None
    places = [place for place, pair in enumerate(zip(old, new, strict=True)) if pair[0] != pair[1]]
    if len(places) != 1:
        return None
    (place,) = places
    is_next = (
        old[place].isdecimal() and new[place].isdecimal() and int(new[place]) == int(old[place]) + 1
    )
    return place if is_next else None
