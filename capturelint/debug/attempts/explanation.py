"""From the values that a graph bakes in and the changes of state to the lines to blame."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from capturelint.debug.states.state import Change
from capturelint.verdict import Certainty, Frozen, Place

RANDOM = "host random numbers"  # the kind of change that drawing them is


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a graph bakes in. `places`: the line that changes it first, then where it is used.

    `changes`: state that differs between the two calls, in words. `message`: what it comes to, if
    the rest does not say it.
    """

    frozen: tuple[Frozen, ...] = ()
    changes: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    certainty: Certainty = Certainty.MODULE_ONLY
    message: str = ""


@dataclass(frozen=True, slots=True)
class Cause:
    """A change of state, and the line that makes it, where that was seen."""

    change: Change
    place: Place | None

    def is_value_of(self, frozen: Frozen) -> bool:
        """Return whether it holds the values that were frozen."""
        values = (self.change.before, self.change.after)
        return "" not in values and values == (frozen.before, frozen.after)

    def is_named_in(self, frozen: Frozen) -> bool:
        """Return whether the line that uses the frozen value names it."""
        name = re.split(r"[ .\[]", self.change.name.rstrip("]'\""))[-1].strip("'\"")
        return bool(name) and re.search(rf"\b{re.escape(name)}\b", frozen.place.source) is not None

    def is_made_at(self, frozen: Frozen) -> bool:
        """Return whether it is made on the line that uses the frozen value."""
        return self.place is not None and line_of(self.place) == line_of(frozen.place)

    def is_made_near(self, frozen: Frozen) -> bool:
        """Return whether it is made in the function that uses the frozen value."""
        place = self.place
        used = frozen.place
        return place is not None and (place.path, place.function) == (used.path, used.function)


_Test = Callable[[Cause, Frozen], bool]
_SURE: tuple[_Test, ...] = (Cause.is_value_of, Cause.is_named_in, Cause.is_made_at)


@dataclass(frozen=True, slots=True)
class Joined:
    """A frozen value with its cause, if that is known. `is_sure`: whether it is beyond doubt."""

    frozen: Frozen
    is_sure: bool = False


def joined(frozen: Frozen, causes: Sequence[Cause]) -> Joined:
    """Return a frozen value with what changes it, where one change stands out."""
    for test in (*_SURE, Cause.is_made_near):
        fitting = by_name(cause for cause in causes if test(cause, frozen))
        if len(fitting) == 1 or _is_one_line(fitting):
            return with_cause(frozen, fitting[0], is_sure=test in _SURE)
        if fitting:
            break
    return Joined(frozen)


def with_cause(frozen: Frozen, cause: Cause, *, is_sure: bool) -> Joined:
    """Return a frozen value with its cause."""
    name = _spoken(cause.change, (frozen.place, cause.place))
    return Joined(replace(frozen, name=name, cause=cause.place), is_sure)


def _is_one_line(causes: Sequence[Cause]) -> bool:
    """Return whether one line makes them all, as where two buffers are exchanged."""
    lines = {cause.place and line_of(cause.place) for cause in causes}
    return len(lines) == 1 and None not in lines


def by_name(causes: Iterable[Cause]) -> list[Cause]:
    """Return one for each name: what changes before and after the call is the same change."""
    return list({cause.change.name: cause for cause in causes}.values())


def explained(
    joined: Sequence[Joined], causes: Sequence[Cause], returned: tuple[str, str] | None
) -> Explanation:
    """Return what to blame. `returned`: two values in words that a result had, or None."""
    frozen = tuple(one.frozen for one in joined)
    words = tuple(_in_words(cause.change) for cause in by_name(causes))
    best = min(joined, key=_rank, default=None)
    if best is not None:
        ends = (best.frozen.cause, best.frozen.place)
        places = tuple({line_of(place): place for place in ends if place is not None}.values())
        certainty = Certainty.SHOWN if _rank(best) in (0, 1) else Certainty.LIKELY
        return Explanation(frozen, words, places, certainty)
    fitting = [cause for cause in causes if (cause.change.before, cause.change.after) == returned]
    lines = tuple(cause.place for cause in by_name(fitting or causes) if cause.place is not None)
    certainty = Certainty.LIKELY if lines else Certainty.MODULE_ONLY
    return Explanation(frozen, words, lines, certainty)


def _rank(joined: Joined) -> int:
    """Return how little the value tells which line to blame."""
    if joined.frozen.cause is not None:
        return 0 if joined.is_sure else 2
    # A number is wrong where it is used, whoever made it; other memory or operations need not be.
    return 1 if is_number(joined.frozen) else 3


def is_number(frozen: Frozen) -> bool:
    """Return whether a number was frozen, rather than which memory or operations are used."""
    return frozen.before.startswith("host tensor") or _NUMBER.fullmatch(frozen.before) is not None


_NUMBER = re.compile(r"True|False|0x[0-9a-f]+|-?inf|nan|-?[\d.]+(e[-+]?\d+)?j?|\(.*j\)")


def _spoken(change: Change, places: Iterable[Place | None]) -> str:
    """Return what the user's code calls what changed. `places`: lines that use or change it."""
    if change.kind == RANDOM or " " in change.name:
        return change.name
    owner, _, last = change.name.rpartition(".")
    own = f"self.{last}"
    # Of another module than that of the line it is told by its path.
    is_own = not owner or any(own in place.source for place in places if place is not None)
    return own if is_own else change.name


def _in_words(change: Change) -> str:
    if not change.before and not change.after:
        return f"{change.name}: {change.kind}"
    return f"{change.name}: {change.before or 'nothing'} -> {change.after} ({change.kind})"


def line_of(place: Place) -> tuple[str, int]:
    """Return which line a place is."""
    return place.path, place.line
