"""How one finding stands after a run, and why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from capturelint.execution import Asked
from capturelint.finding import Finding


class Standing(Enum):
    """What a run says about a finding."""

    PROVED = "proved"
    REFUTED = "refuted"
    NOT_REACHED = "not reached"
    UNTOLD = "cannot tell"


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with the place in a file that is there now.

    `finding`: with the path as printed here, and the line that it is at now. `asked`: what a run is
    to watch; None where there is no such place any more, for the reason in `problem`.
    """

    finding: Finding
    asked: Asked | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Stand:
    """How a finding stands. `why`: what was seen, or what is missing. `calls`: as in `Ran`.

    `modules`: paths of the modules that ran it.
    """

    finding: Finding
    standing: Standing
    why: str
    calls: int | None = None
    modules: tuple[str, ...] = ()
