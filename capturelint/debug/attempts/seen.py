"""What one call leaves behind, and how two of those differ."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from capturelint.debug.attempts.compare import Difference, Tolerance, difference, floor
from capturelint.debug.attempts.part import dotted
from capturelint.debug.trees.parked import shown


@dataclass(frozen=True, slots=True)
class Seen:
    """What a call leaves behind. `arguments`, `state`: by name, only what it changed or all.

    Any of these may be `Parked`, so that references of all steps do not fill the device. `aliases`:
    which results lie in the memory of inputs or buffers, in words.
    """

    result: object
    arguments: Mapping[str, object]
    state: Mapping[str, object]
    aliases: tuple[str, ...] = ()

    def difference(self, other: Seen, tolerance: Tolerance, noise: Noise) -> Difference | None:
        """Return where `other` differs from this, in what both have. `noise`: is added."""
        for place, mine, theirs in self._pairs(other):
            bound = replace(tolerance, floor=noise.get(place))
            found = difference(mine, theirs, bound)
            if found is not None:
                return replace(found, path=dotted(place, found.path).lstrip(".") or "result")
        return None

    def noise(self, again: Seen) -> Noise:
        """Return what this differs by from a second run of the same."""
        return {place: floor(mine, theirs) for place, mine, theirs in self._pairs(again)}

    def _pairs(self, other: Seen) -> Iterator[tuple[str, object, object]]:
        yield "", shown(self.result), shown(other.result)
        for name in sorted(self.arguments.keys() & other.arguments.keys()):
            yield f"argument {name}", shown(self.arguments[name]), shown(other.arguments[name])
        for name in sorted(self.state.keys() & other.state.keys()):
            yield f"state {name}", shown(self.state[name]), shown(other.state[name])


# What two runs of the same differ by: by place, then by path.
Noise: TypeAlias = dict[str, dict[str, float]]


def most(noises: Iterable[Noise]) -> Noise:
    """Return the largest of what several pairs of runs differ by."""
    found: Noise = {}
    for noise in noises:
        for place, by_path in noise.items():
            known = found.setdefault(place, {})
            for path, largest in by_path.items():
                known[path] = max(largest, known.get(path, 0.0))
    return found
