"""What a rule says about one place in one file."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple


class Effect(Enum):
    """What a CUDA graph does with code that breaks a rule, worst first.

    What pad rows leak, no rule tells: a run does.
    """

    REFUSES = "refuses-capture"
    STALE = "stale-on-replay"
    LEAKS = "pad-rows-leak"
    SLOW = "slow"


class Span(NamedTuple):
    """A stretch of source. Lines count from 1, columns from 0 in characters; the end is exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Step:
    """One function on the way from a root to a finding, and the line in it that leads on.

    The last step of a chain is the function that holds the finding, at the finding's own line.
    In a notebook the line counts inside the cell.
    """

    path: str
    line: int
    function: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text under `span` with `text`."""

    span: Span
    text: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together and how sure they are: `proven`, `unsafe` or `suggestion`."""

    grade: str
    edits: tuple[Edit, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """One hazard. `path` is as printed: relative to the working directory, forward slashes.

    `chain` leads from a root to the function that holds it, and is empty where no root does.
    `source` is the text of the finding's first line. `cell` is the cell of a notebook, all its cells
    counted from 1, and lines then count inside it; None elsewhere. `if_captured`: as far as is known its function is never
    captured, and only `--scope all` looks at it. `refusal` says why there is no `fix`, where one was looked for.
    """

    code: str
    name: str
    effects: tuple[Effect, ...]
    message: str
    path: str
    span: Span
    function: str = ""
    source: str = ""
    chain: tuple[Step, ...] = ()
    fix: Fix | None = None
    cell: int | None = None
    if_captured: bool = False
    refusal: str = ""

    @property
    def sort_key(self) -> tuple[str, int, Span, str]:
        """Order of reports: by file, then place, then code."""
        return (self.path, self.cell or 0, self.span, self.code)
