"""Run the steps of one part: eagerly on fresh inputs, captured on static ones, replayed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

from torch import Tensor

from capturelint.debug.attempts.compare import EXACT, difference
from capturelint.debug.attempts.observed import Observed
from capturelint.debug.attempts.part import Call, Part, named
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.attempts.seen import Seen
from capturelint.debug.backend import Backend, Captured, Counts
from capturelint.debug.states.held import Held
from capturelint.debug.trees.aliasing import aliases
from capturelint.debug.trees.memory import memory_of
from capturelint.debug.trees.parked import Parked
from capturelint.debug.trees.static_inputs import copy_into
from capturelint.debug.trees.trees import copied, nodes, with_same_tensors

_Context = TypeVar("_Context")
_MOST_KEPT = 64 << 20  # bytes of the inputs of all steps of one attempt


@dataclass(slots=True)
class Tally:
    """Counts what a run costs. `forwards`: calls of parts and replays of their graphs."""

    forwards: int = 0


class Inputs:
    """What a part receives: the same tensors in each run, in structures made anew."""

    def __init__(self, calls: Sequence[Call]) -> None:
        self._shared = [one for call in calls for one in call.shared]
        self._trees = copied(_trees(calls), shared=self._shared)

    def fill(self, calls: Sequence[Call]) -> None:
        """Copy the contents of `calls` into the tensors."""
        copy_into(self._trees, _trees(calls))

    @property
    def size(self) -> int:
        """Return the bytes of the tensors."""
        outside = [id(one) for one in self._shared]
        return memory_of(
            one for one in nodes(self._trees, outside=outside) if isinstance(one, Tensor)
        )

    @property
    def named(self) -> dict[str, object]:
        """Return all that the tensors are part of, for comparing memory."""
        return {"inputs": self._trees}

    def filled(self, calls: Sequence[Call]) -> list[Call]:
        """Return calls like these on these tensors. Their structures may be changed freely."""
        self.fill(calls)
        return self.held(calls)

    def held(self, calls: Sequence[Call]) -> list[Call]:
        """Return calls like these on these tensors, with what the tensors hold by now."""
        own = with_same_tensors(self._trees, shared=self._shared)
        return [
            replace(call, args=args, kwargs=kwargs)
            for call, (args, kwargs) in zip(calls, own, strict=True)
        ]


@dataclass(frozen=True, slots=True)
class Graph:
    """A captured step. `calls`: as it left them. `state`: the tensors it left registered or held.

    `rebound`: names of those that it put there itself. What stands under another name is what was
    prepared, also before a replay.
    """

    captured: Captured
    inputs: Inputs
    calls: list[Call]
    state: dict[str, Tensor]
    rebound: frozenset[str]


@dataclass(slots=True)
class Runs:
    """Runs a part. Each step is prepared and seeded alike, however it is run.

    `before`: is called with the step before each, outside of what is captured. `held`: the tensors
    that it may write besides those that modules register, once they are known.
    """

    part: Part
    backend: Backend
    seed: int
    before: Callable[[int], object] | None
    stand_ins: StandIns
    tally: Tally
    held: Held = field(default_factory=Held)
    _fresh: dict[int, Inputs] = field(default_factory=dict)

    @property
    def observed(self) -> Observed:
        """Return the tensors that what runs keeps."""
        return Observed(self.part.run, self.held)

    def call(self, calls: Iterable[Call]) -> list[object]:
        """Run the calls of one step."""
        self.tally.forwards += 1
        return [call.of(self.part.run) for call in calls]

    def begin(self, step: int, *, static: bool) -> None:
        """Do what comes before a step. `static`: stand-ins answer in tensors that stay the same."""
        number = self.part.number(step)
        if self.before is not None:
            self.before(number)
        self.stand_ins.begin(step, static=static)
        self.backend.seed(self.seed + number)

    def alone(
        self,
        step: int,
        inputs: Inputs,
        *,
        during: AbstractContextManager[_Context] | None = None,
        static: bool = True,
    ) -> _Context | None:
        """Run a step eagerly on `inputs`, for what it does to the state.

        `during`: a context for the calls alone, whose value is returned. `static`: as of `begin`.
        """
        calls = inputs.filled(self.part.steps[step])
        # The same tensors as in other steps, so that only what the part does can tell them apart.
        self.begin(step, static=static)
        with nullcontext() if during is None else during as value:
            self.call(calls)
        return value

    def seen(self, count: int) -> Iterator[Seen]:
        """Run the first `count` steps eagerly, each on tensors of its own.

        A step has the same tensors each time, and other ones than every other step, unless these
        are large: then they are made anew, and may lie where those of an earlier step lay.
        """
        told: set[str] = set()
        for step in range(count):
            yield self.one(step, told)

    def one(self, step: int, told: set[str], calls: list[Call] | None = None) -> Seen:
        """Run one step eagerly. `told`: names of state that is told of in any case; gains others.

        `calls`: what `own_calls` returned for it.
        """
        given = self.part.steps[step]
        calls = self.own_calls(step) if calls is None else calls
        self.begin(step, static=False)
        seals = self.observed.seals()  # of now: what was prepared is no work of the call
        results = self.call(calls)
        written = self.observed.written(seals, told)
        told.update(written)
        shared = aliases(self.arguments(calls), _one_or_all(results), self.observed.buffers())
        return Seen(Parked(_one_or_all(results)), self._left_in(calls, given), written, shared)

    def captured(self, inputs: Inputs) -> Graph:
        """Capture the first step on `inputs`. Raises what the capture raises."""
        calls = inputs.filled(self.part.steps[0])
        self.begin(0, static=True)
        before = self.observed.tensors()
        graph = self.backend.capture(lambda: self.call(calls))
        state = self.observed.tensors()
        rebound = frozenset(name for name, one in state.items() if one is not before.get(name))
        return Graph(graph, inputs, calls, state, rebound)

    def counts(self, inputs: Inputs) -> Counts | None:
        """Return what the first step runs eagerly and what a graph of it holds, if it is told."""
        calls = inputs.filled(self.part.steps[0])
        self.begin(0, static=True)
        return self.backend.counts(lambda: self.call(calls))

    def replayed(self, graph: Graph, step: int) -> Seen:
        """Replay a graph on the inputs of `step`. What it left is its memory, not copies."""
        graph.inputs.fill(self.part.steps[step])
        self.begin(step, static=True)
        now = self.observed.tensors()
        state = {
            name: one if name in graph.rebound else now.get(name, one)
            for name, one in graph.state.items()
        }
        self.tally.forwards += 1
        graph.captured.replay()
        results = cast("list[object]", graph.captured.output)
        return Seen(_one_or_all(results), self.arguments(graph.calls), state)

    def arguments(self, calls: Sequence[Call]) -> dict[str, object]:
        """Return the arguments of the calls of one step by name."""
        if len(calls) == 1:
            return named(self.part.run, calls[0])
        return {
            f"{name} of call {number}": value
            for number, call in enumerate(calls, start=1)
            for name, value in named(self.part.run, call).items()
        }

    def own_calls(self, step: int) -> list[Call]:
        """Return the calls of a step, on its own tensors."""
        given = self.part.steps[step]
        known = self._fresh.get(step)
        if known is not None:
            return known.filled(given)
        inputs = Inputs(given)
        if sum(one.size for one in self._fresh.values()) + inputs.size <= _MOST_KEPT:
            self._fresh[step] = inputs
        return inputs.held(given)

    def _left_in(self, calls: Sequence[Call], given: Sequence[Call]) -> dict[str, object]:
        """Return copies of the arguments that a run changed of what it was `given`."""
        before = self.arguments(given)
        return {
            name: Parked(value)
            for name, value in self.arguments(calls).items()
            if difference(before[name], value, EXACT) is not None
        }


def _trees(calls: Sequence[Call]) -> list[tuple[tuple[Any, ...], dict[str, Any]]]:
    return [(call.args, dict(call.kwargs)) for call in calls]


def _one_or_all(results: list[object]) -> object:
    """Return the result of the only call, or a list of all of them."""
    return results[0] if len(results) == 1 else results
