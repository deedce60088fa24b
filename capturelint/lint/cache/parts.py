"""Of which functions of a file the code was used, and whether a later version still holds it."""

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
    """What was used of one file: functions by their place in it, and that it lacks some words."""

    functions: dict[int, Part] = field(default_factory=dict)
    is_silent: bool = False

    def note(self, place: int, facts: FunctionFacts, source: SourceFile) -> None:
        """Note that the code of a function was used. The first reading counts."""
        if place not in self.functions:
            self.functions[place] = _part(facts, source)

    def found_in(
        self, facts: FileFacts, text: str, words: Sequence[str]
    ) -> tuple[Parts, list[Move]] | None:
        """Return the same parts of a later version, and where they went; None if one has changed.

        `facts` say the same as those of the earlier version, but for lines. `words` are those that
        a silent file lacks.
        """
        if "\f" in text or (self.is_silent and not lacks(text, words)):
            return None
        source = SourceFile.of(text)
        now = {place: _part(facts.functions[place], source) for place in self.functions}
        if any(now[place].digest != part.digest for place, part in self.functions.items()):
            return None
        moves = [
            Move(part.first, part.last, now[place].first - part.first)
            for place, part in self.functions.items()
        ]
        return Parts(now, self.is_silent), moves


def lacks(text: str, words: Sequence[str]) -> bool:
    """Return whether a text holds none of some words, which are in lower case."""
    lowered = text.lower()
    return not any(word in lowered for word in words)


def as_text(parts: Mapping[str, Parts]) -> str:
    """Return the parts of files as JSON."""
    rows = {
        path: [one.is_silent, [[place, *part] for place, part in one.functions.items()]]
        for path, one in parts.items()
    }
    return json.dumps(rows, separators=(",", ":"))


# What was read back is sealed, so it is what `as_text` made; the types are not proven again.
def from_text(text: str) -> dict[str, Parts]:
    """Return the parts that `as_text` was given."""
    return {
        path: Parts({place: Part(*part) for place, *part in functions}, is_silent)
        for path, (is_silent, functions) in json.loads(text).items()
    }


def _part(facts: FunctionFacts, source: SourceFile) -> Part:
    text = source.segment(facts)
    return Part(facts.first_line, facts.end_line, digest(text.encode("utf-8", "surrogatepass")))
