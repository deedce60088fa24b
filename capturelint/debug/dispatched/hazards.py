"""The lines that a capture would stop at, gathered in an eager run made as if capturing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from capturelint.debug.dispatched.refusal import Refusal
from capturelint.debug.frames import span_at
from capturelint.verdict import Act, Hazard, Place

_NOWHERE = Place("", 0)


class Hazards:
    """The hazards met so far: each line once for each module that ran it, and how often.

    `module`: tells the path of the module that is running.
    """

    def __init__(self, module: Callable[[], str]) -> None:
        self._module = module
        self._met: dict[tuple[str, int, str], Hazard] = {}

    def add(self, refusal: Refusal, places: tuple[Place, ...]) -> None:
        """Count one refusal at the innermost of the user's frames."""
        place = places[0] if places else _NOWHERE
        module = self._module()
        key = (place.path, place.line, module)
        act = Act(refusal.operation, refusal.effect, span_at(place))
        known = self._met.get(key)
        if known is not None:
            acts = tuple(dict.fromkeys((*known.acts, act)))
            self._met[key] = replace(known, calls=known.calls + 1, acts=acts)
            return
        self._met[key] = Hazard(
            place,
            module,
            refusal.operation,
            refusal.effect,
            refusal.message,
            refusal.code,
            acts=(act,),
        )

    def listed(self) -> list[Hazard]:
        """Return them in the order in which they were first met."""
        return list(self._met.values())
