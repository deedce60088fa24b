"""What one run of a part left behind, by place: results, arguments and state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from capturelint.debug.attempts.part import dotted
from capturelint.debug.attempts.seen import Seen
from capturelint.debug.trees.parked import Parked, back
from capturelint.debug.trees.trees import leaves

RESULT = "result"
STATE = "state "


class Left(Mapping[str, object]):
    """What a run left, by place. It lies on the host until it is looked at."""

    def __init__(self, found: Mapping[str, object]) -> None:
        self._parked = {path: Parked(value) for path, value in found.items()}

    def __getitem__(self, path: str) -> object:
        return self._parked[path].back()

    def __contains__(self, path: object) -> bool:
        return path in self._parked

    def __iter__(self) -> Iterator[str]:
        return iter(self._parked)

    def __len__(self) -> int:
        return len(self._parked)


def left_by(seen: Seen) -> Left:
    """Return what a run left by place: `result.logits`, `argument cache.keys`, `state seen`."""
    found: dict[str, object] = {
        dotted(RESULT, leaf.path): leaf.value for leaf in leaves(back(seen.result))
    }
    for name, value in seen.arguments.items():
        for leaf in leaves(back(value)):
            found[f"argument {dotted(name, leaf.path)}"] = leaf.value
    found.update({f"{STATE}{name}": back(value) for name, value in seen.state.items()})
    return Left(found)
