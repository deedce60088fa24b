"""What was found in a run before anything was accepted, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from capturelint.finding import Finding


class Section(IntEnum):
    """Where the findings of a run come from, in their order."""

    FILES = 0
    CAPTURED = 1
    STEPS = 2
    SITES = 3
    FAILURES = 4


@dataclass(frozen=True, slots=True)
class Said:
    """What was found before anything was accepted, and of which function, -1 for a file."""

    section: Section
    function: int
    finding: Finding
