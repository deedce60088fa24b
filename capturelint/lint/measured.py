"""What a GPU did with the examples of the rules' fixtures, and whether that is what a page says."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from capturelint.bundle import bundled
from capturelint.finding import Effect
from capturelint.lint.fixture import digests, examples

# What replays on fresh inputs, or a capture alone, come to where nothing is wrong.
_HARMLESS = frozenset(["replays-equal", "captures"])


@dataclass(frozen=True, slots=True)
class Measured:
    """What one example came to on one device.

    `outcome`: the effect that it showed, or `replays-equal`, or `captures` where there was nothing
    to compare, or why it could not be judged. `error`: the first line of what was said, or "".
    `source`: the digest of the example that ran.
    """

    rule: str
    example: str
    outcome: str
    error: str
    source: str
    device: str
    torch: str
    driver: str
    date: str

    def agrees(self, effects: Sequence[Effect]) -> bool:
        """Return whether a rule with these effects is right to report it, or not to."""
        if self.example.startswith(("bad_", "Bad")):
            return self.outcome in {effect.value for effect in effects}
        return self.outcome in _HARMLESS


@dataclass(frozen=True, slots=True)
class Record:
    """The record of one rule's fixture as it is now.

    `current`: what was measured of the examples as they are; `missing`: names of those that are
    new or have changed since.
    """

    current: tuple[Measured, ...]
    missing: tuple[str, ...]


def record_of(rule: str, fixture: Path) -> Record:
    """Return what is known of a fixture's examples, in their order. Reads the packaged record."""
    lines = _lines(bundled("fixtures")).get(rule)
    if not fixture.exists() or lines is None:
        return Record((), ())
    text = fixture.read_text(encoding="utf-8")
    sources = digests(text)
    current: list[Measured] = []
    missing: list[str] = []
    for node in (*examples(text, "bad_"), *examples(text, "good_")):
        line = lines.get(node.name)
        if line is None or line.source != sources[node.name]:
            missing.append(node.name)
        else:
            current.append(line)
    return Record(tuple(current), tuple(missing))


def reasons() -> Mapping[str, Mapping[str, str]]:
    """Return why an example does not do what its rule says, by rule and name of the example."""
    found: dict[str, dict[str, str]] = json.loads(
        _text(bundled("fixtures") / "measured" / "exceptions.json") or "{}"
    )
    return found


@functools.cache
def _lines(fixtures: Path) -> Mapping[str, Mapping[str, Measured]]:
    """Return the record by rule and name of the example."""
    found: dict[str, dict[str, Measured]] = {}
    for text in _text(fixtures / "measured" / "fixtures.jsonl").splitlines():
        line = Measured(**json.loads(text))
        found.setdefault(line.rule, {})[line.example] = line
    return found


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""
