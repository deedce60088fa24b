"""Eager runs and replays of one part, each from the start, and where they differ."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from contextlib import nullcontext

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.attempts.differs import Differs
from capturelint.debug.attempts.frozen import Explainer
from capturelint.debug.attempts.runs import Graph, Inputs
from capturelint.debug.attempts.seen import Noise, Seen
from capturelint.debug.attempts.side import Side
from capturelint.debug.attempts.stages import REPLAYING, Stages
from capturelint.debug.attempts.unowned import Several, Spoiled, moved
from capturelint.debug.backend import Backend
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import Snapshot
from capturelint.verdict import Hazard


class Comparison:
    """Runs one part eagerly and as a graph.

    `captured`, `eager`: the same, or two instances. `inputs`: the static inputs of the graph.
    `fresh`: the state before the first call of all, as far as it is known. `outside`: work of the
    part that a run as if capturing saw outside the capture.
    """

    def __init__(
        self,
        captured: Side,
        eager: Side,
        backend: Backend,
        settings: Settings,
        inputs: Inputs,
        fresh: Snapshot,
        outside: Sequence[Hazard] = (),
        *,
        reach: Callable[[str], object] = lambda _: None,
    ) -> None:
        self._captured = captured
        self._reach = reach
        self._eager = eager
        self._backend = backend
        self._stages = Stages(backend, captured.runs.stand_ins)
        self._settings = settings
        self._tolerance = Tolerance(settings.rtol, settings.atol)
        part = captured.runs.part
        most = captured.runs.stand_ins.steps
        self._steps = min(settings.replays + 1, len(part.steps), *(() if most is None else (most,)))
        self._graph: Graph | None = None
        self._start = self._eager_start = fresh
        self._fresh = fresh
        self._inputs = inputs
        self._outside = outside

    def close(self) -> None:
        """Give the memory of the graph back."""
        if self._graph is not None:
            self._graph.captured.close()

    def _run_eagerly(self, *, watched: int = 0) -> list[Seen]:
        """Return what each step comes to, from the start. `watched`: how many to learn from."""
        state = self._eager.state
        state.restore(self._eager_start)
        with self._stages.eager():
            seen = self._eager.runs.seen(self._steps)
            with self._stages.watched(state) if watched else nullcontext():
                first = list(itertools.islice(seen, watched))
            return [*first, *seen]

    def _replay(
        self, noise: Noise, *references: Sequence[Seen], spoiled: Spoiled | None = None
    ) -> list[Differs | None]:
        """Return the first replay that differs from each of the references, from the start.

        Each is compared at once, because the next one overwrites what it left. `noise`: what eager
        runs differ by. `spoiled`: its memory is zeros from the second replay on.
        """
        self._captured.state.restore(self._start)
        found: list[Differs | None] = [None] * len(references)
        for step in range(self._steps):
            if spoiled is not None and step == 1:
                spoiled.memory.fill(0)
            replayed = self._replayed(step)
            for number, reference in enumerate(references):
                differs = reference[step].difference(replayed, self._tolerance, noise)
                if found[number] is None and differs is not None:
                    found[number] = Differs(step + 1, differs)
            if None not in found:
                break
        return found

    def _replayed(self, step: int) -> Seen:
        """Replay on the inputs of `step`. Raises UndecidedError, DiedError."""
        assert self._graph is not None
        self._reach(REPLAYING)
        with self._stages.replaying(step):
            return self._captured.runs.replayed(self._graph, step)

    def _is_noisy(self, *runs: Sequence[Seen]) -> bool:
        return any(a.difference(b, self._tolerance, {}) for a, b in zip(*runs, strict=True))

    @property
    def _explainer(self) -> Explainer:
        return Explainer(self._eager.runs, self._eager.state, self._eager_start)

    def _spoiled(self) -> Spoiled | None:
        """Return what replays over memory that nobody owns, if there is any."""
        graph, runs = self._graph, self._captured.runs
        state, start = self._captured.state, self._start
        if graph is None:
            return None
        state.restore(start)
        with self._stages.replaying(0):
            found = (graph.captured.unowned(), moved(runs, graph))
        memory = Several(tuple(one for one in found if one is not None))
        if not memory.parts:
            return None
        return Spoiled(runs, graph, memory, self._stages, lambda: state.restore(start))
