"""Which memory that a graph reads is freed after the call, or was never written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from capturelint.debug.attempts.explanation import Explanation
from capturelint.debug.attempts.frozen import Explainer
from capturelint.debug.dispatched.launches import HostValue, Launch
from capturelint.debug.frames import sourced
from capturelint.verdict import Certainty, Place

_REBOUND = "a replay reads memory that was freed: what it captured is bound anew between calls"
_PINNED = "each replay reads pinned memory on the host that was freed after the call"
_READ = "a replay reads memory here that nothing has written"
_MADE = "a replay reads memory that was made here and that nothing has written"


def freed(explainer: Explainer) -> Explanation:
    """Return what a graph may read that nobody owns, the surest first.

    What is bound anew, pinned copies of temporaries, room that is read before it is written; then
    room that may be written in part. Runs the part eagerly, four times.
    """
    why = explainer.explanation(1, None)
    if why.frozen and why.places:
        return replace(why, message=_REBOUND)
    launches, others = (explainer.recorded() for _ in range(2))
    pinned = _temporaries(launches.items, others.items)
    if pinned:
        return _likely(pinned, _PINNED)
    if launches.rooms.read:
        return _likely(launches.rooms.read, _READ)
    return _likely(launches.rooms.made, _MADE) if launches.rooms.made else Explanation()


def _temporaries(first: Sequence[Launch], other: Sequence[Launch]) -> list[Place]:
    """Return where pinned memory is used that is not the same in both calls."""
    return [
        launch.place
        for launch, again in zip(first, other, strict=False)
        for one, now in zip(launch.arguments, again.arguments, strict=False)
        if isinstance(one, HostValue) and isinstance(now, HostValue)
        if one.pinned is not None and one.pinned != now.pinned
    ]


def _likely(places: Sequence[Place], message: str) -> Explanation:
    known = tuple(sourced(place) for place in dict.fromkeys(places) if place.path)
    certainty = Certainty.LIKELY if known else Certainty.MODULE_ONLY
    return Explanation((), (), known, certainty, message)
