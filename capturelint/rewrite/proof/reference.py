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
