"""Of which functions of a file the code was used, and which of them a later version still holds."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from capturelint.lint.cache.content import digest
from capturelint.names import FileFacts, FunctionFacts
from capturelint.source import SourceFile


class Part(NamedTuple):
    """The lines of one function, and a digest of their text."""

    first: int
    last: int
    digest: str


class Move(NamedTuple):
    """Lines of an earlier version of a file, and how far down they are now."""

    first: int
    last: int
    shift: int


@dataclass(slots=True)
class Parts:
    """What was used of one file: functions by their place in it, and its comments.

    `is_judged`: its comments may accept findings. `is_silent`: it holds no word that could.
    """

    functions: dict[int, Part] = field(default_factory=dict)
    is_judged: bool = False
    is_silent: bool = False

    def note(self, place: int, facts: FunctionFacts, source: SourceFile) -> None:
        """Note that the code of a function was used. The first reading counts."""
        if place not in self.functions:
            self.functions[place] = _part(facts, source)

    def note_comments(self, text: str, words: Sequence[str]) -> None:
        """Note that the comments of the file, which holds `text`, count: those with some words."""
        self.is_judged, self.is_silent = True, lacks(text, words)

    def found_in(self, facts: FileFacts, source: SourceFile) -> Found:
        """Return the same parts of a later version, and where they went.

        `facts` say the same as those of the earlier version, but for lines.
        """
        now = {place: _part(facts.functions[place], source) for place in self.functions}
        moves, changed = [], []
        for place, part in self.functions.items():
            if now[place].digest == part.digest:
                moves.append(Move(part.first, part.last, now[place].first - part.first))
            else:
                changed.append(place)
        return Found(Parts(now, self.is_judged, self.is_silent), moves, changed)


class Found(NamedTuple):
    """Parts of a later version of a file: those that went elsewhere, and those that changed."""

    parts: Parts
    moves: list[Move]
    changed: list[int]


def lacks(text: str, words: Sequence[str]) -> bool:
    """Return whether a text holds none of some words, which are in lower case."""
    lowered = text.lower()
    return not any(word in lowered for word in words)


def as_text(parts: Mapping[str, Parts]) -> str:
    """Return the parts of files as JSON."""
    rows = {
        path: [
            one.is_judged,
            one.is_silent,
            [[place, *part] for place, part in one.functions.items()],
        ]
        for path, one in parts.items()
    }
    return json.dumps(rows, separators=(",", ":"))


# What was read back is sealed, so it is what `as_text` made; the types are not proven again.
def from_text(text: str) -> dict[str, Parts]:
    """Return the parts that `as_text` was given."""
    return {
        path: Parts({place: Part(*part) for place, *part in functions}, is_judged, is_silent)
        for path, (is_judged, is_silent, functions) in json.loads(text).items()
    }


def _part(facts: FunctionFacts, source: SourceFile) -> Part:
    text = source.segment(facts)
    return Part(facts.first_line, facts.end_line, digest(text.encode("utf-8", "surrogatepass")))
