"""What a pattern says of one place: a form to write instead, or why it offers none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from capturelint.finding import Edit
from capturelint.rewrite.buffers import Buffer


class Grade(Enum):
    """How sure it is that a form computes what the old code computed.

    PROVEN: eagerly the same for every input, errors included. UNSAFE: the same where the old code
    did not raise. SUGGESTION: words, nothing to apply.
    """

    PROVEN = "proven"
    UNSAFE = "unsafe"
    SUGGESTION = "suggestion"


@dataclass(frozen=True, slots=True)
class Form:
    """Code to write instead. `edits` are in the lines of the source; all of them or none.

    `notes`: what the user must know of it, such as what it costs. `buffers`: what its edits read.
    """

    grade: Grade
    edits: tuple[Edit, ...]
    notes: tuple[str, ...] = ()
    buffers: tuple[Buffer, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a place that a pattern knows is left as it is. `line` counts from 1.

    `code` is one word for the kind of reason, `hint` what to do by hand.
    """

    code: str
    reason: str
    hint: str
    line: int

    def __str__(self) -> str:
        return f"{self.reason}; {self.hint}"
