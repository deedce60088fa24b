"""How each row of the table of operations is known: captured on a GPU, or from sources alone."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capturelint.bundle import bundled
from capturelint.operations.operation import Operation
from capturelint.release import release_of

# Known from torch's sources or documentation alone.
SOURCE = "source"


@dataclass(frozen=True, slots=True)
class Captured:
    """What one piece of code for a row came to.

    `outcome`: the effect that it showed, `replays-equal`, `captures` where there was nothing to
    compare, or why it could not be judged. `source`: the digest of the code.
    """

    op: str
    form: str
    code: str
    outcome: str
    error: str
    source: str
    device: str
    torch: str
    driver: str
    date: str

    def speaks_of(self, row: Operation) -> bool:
        """Return whether the release of torch that ran it is one that the row holds for."""
        return row.holds_for(release_of(self.torch))

    def agrees(self, row: Operation) -> bool:
        """Return whether it came to what the row says."""
        if row.effect is None:
            return self.outcome in {"replays-equal", "captures"}
        return self.outcome == row.effect.value


def known_from(row: Operation) -> str:
    """Return the GPU and torch that showed what a row says, or `source` where none did.

    Several pieces of code for one row must agree. Reads the packaged record.
    """
    lines = captured(row)
    if not lines or not all(line.speaks_of(row) and line.agrees(row) for line in lines):
        return SOURCE
    return f"{lines[0].device}, torch {lines[0].torch}"


def captured(row: Operation) -> tuple[Captured, ...]:
    """Return what is recorded of a row."""
    return _record(bundled("fixtures")).get((row.op, row.form), ())


@functools.cache
def _record(fixtures: Path) -> Mapping[tuple[str, str], tuple[Captured, ...]]:
    path = fixtures / "measured" / "operations.jsonl"
    found: dict[tuple[str, str], tuple[Captured, ...]] = {}
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        line = Captured(**json.loads(text))
        found[line.op, line.form] = (*found.get((line.op, line.form), ()), line)
    return found
