"""Run the callables of a case as one program: step after step, in their order, eagerly or as graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from capturelint.debug.attempts.part import Part
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.attempts.runs import Graph, Inputs, Runs, Tally
from capturelint.debug.attempts.seen import Seen
from capturelint.debug.attempts.stages import Stages
from capturelint.debug.backend import Backend
from capturelint.debug.states.state import Snapshot, State

Turn = Mapping[str, Seen]


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay left, in the memory of the graph. `turn`: from 0. `name`: of the callable."""

    turn: int
    name: str
    seen: Seen


class Flow:
    """The callables `parts` by name, in the order in which they run in each step.

    `start`: the state that each run starts from. `prepare`: runs before each step, once. `steps`: of
    each turn; the first step comes twice, as a capture runs nothing. `runs`: of each callable.
    `current`: the callable that was captured last.
    """

    def __init__(
        self,
        parts: Mapping[str, Part],
        *,
        backend: Backend,
        state: State,
        start: Snapshot,
        prepare: Callable[[int], object] | None,
        seed: int,
        tally: Tally,
    ) -> None:
        stand_ins = StandIns(())
        self.backend = backend
        self.state = state
        self.start = start
        self.stages = Stages(backend, stand_ins)
        self.runs = {
            name: Runs(part, backend, seed, None, stand_ins, tally) for name, part in parts.items()
        }
        self.steps = (0, *range(min(len(part.steps) for part in parts.values())))
        self.current = next(iter(parts))
        self._prepare = prepare

    def prepare(self, step: int) -> None:
        """Do what the user does before a step."""
        if self._prepare is not None:
            self._prepare(step)

    def eagerly(self) -> list[Turn]:
        """Return what each turn comes to. Raises UndecidedError."""
        self._begin()
        # While it is watched, what is compiled runs eagerly and may compute something else.
        is_compiled = self.backend.runs_compiled()
        with self.stages.eager() if is_compiled else self.stages.watched(self.state):
            return list(self.turns(self.steps))

    def turns(self, steps: Iterable[int]) -> Iterator[Turn]:
        """Run some steps eagerly on the state as it is, and give what each comes to."""
        told: dict[str, set[str]] = {name: set() for name in self.runs}
        for step in steps:
            self.prepare(step)
            yield {name: runs.one(step, told[name]) for name, runs in self.runs.items()}

    def captured(self) -> dict[str, Graph]:
        """Capture all callables in their order, into one pool, with what each left for the next.

        Raises what a capture raises, once the graphs before it are closed.
        """
        self._begin()
        graphs: dict[str, Graph] = {}
        try:
            self.prepare(self.steps[0])
            for name, runs in self.runs.items():
                self.current = name
                graphs[name] = runs.captured(Inputs(runs.part.steps[0]))
        except BaseException:
            close(graphs.values())
            raise
        return graphs

    def replayed(self, graphs: Mapping[str, Graph]) -> Iterator[Replayed]:
        """Replay the graphs that were just captured, turn after turn.

        Raises UndecidedError, or DiedError in the callable that is the `current` one. What the captured calls bound stays bound: what is prepared finds it there.
        """
        for turn, step in enumerate(self.steps):
            if turn > 0:
                with self.stages.failing("its graphs cannot be replayed"):
                    self.prepare(step)
            for name, runs in self.runs.items():
                self.current = name
                with self.stages.replaying(turn):
                    seen = runs.replayed(graphs[name], step)
                yield Replayed(turn, name, seen)

    def _begin(self) -> None:
        self.state.restore(self.start)
        for runs in self.runs.values():
            runs.held = self.state.held(self.start)


def close(graphs: Iterable[Graph]) -> None:
    """Give the memory of the graphs back."""
    for graph in graphs:
        graph.captured.close()
