"""What the old code of a function came to, to be told apart from the new."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.rewrite.proof.gradients import Gradients
from capturelint.rewrite.proof.trial import Came, Inputs


@dataclass(frozen=True, slots=True)
class Reference:
    """What the old code came to on all inputs; gradients where those are finite."""

    inputs: Inputs
    came: list[Came]
    gradients: list[Gradients | str]

    def of_what_ran(self) -> Reference:
        """Return the reference without the inputs for which the old code raised."""
        pairs = list(zip(self.inputs, self.came, strict=True))
        ran = [one for one, came in pairs if came.seen is not None]
        sloped = [came.seen is not None for one, came in pairs if one.has_slopes]
        gradients = [
            one
            for one, is_kept in zip(self.gradients, sloped if self.gradients else (), strict=True)
            if is_kept
        ]
        return Reference(ran, [came for _, came in pairs if came.seen is not None], gradients)
