"""Whether a graph reads memory that nobody owns: what was freed, or what nothing has written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from capturelint.debug.attempts.compare import Difference, Tolerance
from capturelint.debug.attempts.runs import Graph, Runs
from capturelint.debug.attempts.seen import Noise, Seen
from capturelint.debug.attempts.stages import Stages
from capturelint.debug.backend import Unowned
from capturelint.debug.trees.memory import storage_key
from capturelint.debug.trees.parked import Parked
from capturelint.debug.trees.scratch import Scratch

# No number, for floats of all kinds; -1 for integers.
NO_NUMBER = 0xFF
_NO_NOISE: Noise = {}


@dataclass(frozen=True, slots=True)
class Several:
    """Memory of several kinds."""

    parts: tuple[Unowned, ...]

    def fill(self, byte: int) -> None:
        """Write a byte all over it."""
        for one in self.parts:
            one.fill(byte)

    def restore(self) -> None:
        """Let it hold what it held before it was first filled."""
        for one in self.parts:
            one.restore()


def moved(runs: Runs, graph: Graph) -> Scratch | None:
    """Return the memory of what the code held when it was captured, and another lies in its place now.

    What is prepared before a step binds it anew; only we still hold it. None if there is none.
    """
    if runs.before is None:
        return None
    runs.begin(0, static=True)
    now = {storage_key(tensor) for tensor in runs.observed.tensors().values()}
    gone = {
        key: tensor
        for tensor in graph.state.values()
        if (key := storage_key(tensor)) is not None and key not in now
    }
    return Scratch(gone.values()) if gone else None


@dataclass(frozen=True, slots=True)
class Spoiled:
    """Replays the first step of a graph on memory that was written over.

    `begin`: puts the state back that it starts from.
    """

    runs: Runs
    graph: Graph
    memory: Unowned
    stages: Stages
    begin: Callable[[], object]

    def differs(self, expected: Seen, tolerance: Tolerance) -> bool:
        """Return whether a replay without numbers in that memory differs from what is expected."""
        try:
            return expected.difference(self._replayed(NO_NUMBER), tolerance, _NO_NOISE) is not None
        finally:
            self.memory.restore()

    def difference(self, expected: Seen, tolerance: Tolerance) -> Difference | None:
        """Return what depends on the memory, if anything does. It is as it was afterwards.

        Zeros come first, which are valid as indices: garbage would cost the device. `expected`: of
        the step; what a replay over zeros does not compute is shown already. None too where two
        replays over zeros differ.
        """
        try:
            zeros, again = self._replayed(0), self._replayed(0)
            if zeros.difference(again, tolerance, _NO_NOISE) is not None:
                return None  # it differs by itself: from what, nobody can tell
            noise = zeros.noise(again)
            found = expected.difference(zeros, tolerance, noise)
            if found is None:
                found = zeros.difference(self._replayed(NO_NUMBER), tolerance, noise)
        finally:
            self.memory.restore()
        return found

    def _replayed(self, byte: int) -> Seen:
        with self.stages.replaying(0):
            self.begin()
            self.memory.fill(byte)
            seen = self.runs.replayed(self.graph, 0)
        return Seen(
            Parked(seen.result),
            {name: Parked(value) for name, value in seen.arguments.items()},
            {name: Parked(value) for name, value in seen.state.items()},
        )
