"""Why a replay is stale: the values that a graph bakes in, and the lines that change them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from capturelint.debug.attempts.addresses import addresses_read
from capturelint.debug.attempts.explanation import (
    RANDOM,
    Cause,
    Explanation,
    Joined,
    by_name,
    explained,
    joined,
    line_of,
    with_cause,
)
from capturelint.debug.attempts.runs import Inputs, Runs
from capturelint.debug.dispatched.launches import Launches
from capturelint.debug.frames import sourced
from capturelint.debug.states.causes import writers
from capturelint.debug.states.differences import Route
from capturelint.debug.states.host_random import global_generators
from capturelint.debug.states.state import Change, Snapshot, State
from capturelint.debug.trees.aliasing import aliases
from capturelint.verdict import Certainty, Frozen, Place

_MOST_TRIED = 16  # changes of state to take back, each for the price of a call


@dataclass(frozen=True, slots=True)
class _Watched:
    """One call: what it launched, and the state before and after it."""

    step: int
    recording: Any
    before: Snapshot
    after: Snapshot


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains by running a part eagerly. `start`: the state that each of these runs starts from.

    `captured`: runs the step that was captured, where that came long before; None: it is the first.
    `static`: whether stand-ins answer in the same tensors each time, as they do for a graph.
    """

    runs: Runs
    state: State
    start: Snapshot
    captured: Explainer | None = None
    static: bool = True

    def explanation(self, step: int, returned: tuple[str, str] | None) -> Explanation:
        """Return why the graph of the first step does not serve `step`.

        `returned`: what the replay and eager came to there in words, where it is no tensor.
        """
        inputs = Inputs(self.runs.part.steps[0])
        # What turns round, such as buffers that are exchanged, may be back where it was by `step`.
        for one in dict.fromkeys((step or 1, 1) if self.captured is None else (step,)):
            first, other = self._pair(inputs, one)
            frozen, changes = self._frozen(first, other), self._changes(first, other)
            if frozen or changes:
                break
        frozen = frozen or self._addresses()
        if not frozen and not changes:
            return self._keeping_results(inputs, step or 1)
        written = self._writers(inputs, changes)
        causes = [Cause(change, written.get(change.name)) for change in changes]
        found = [joined(one, causes) for one in frozen]
        if not all(one.is_sure for one in found):
            found = self._tried(found, causes, inputs, first, other)
        return explained(found, causes, returned)

    def _keeping_results(self, inputs: Inputs, step: int) -> Explanation:
        """Return what keeps results of called modules, which only as tensors of their own differ."""
        if self.runs.stand_ins.steps is None or self.captured is not None:
            return Explanation()
        own = replace(self, static=False)
        changes = own._changes(*own._pair(inputs, step))  # noqa: SLF001 - of its own class
        written = own._writers(inputs, changes)  # noqa: SLF001 - of its own class
        return explained([], [Cause(change, written.get(change.name)) for change in changes], None)

    def unrepeatable(self) -> Explanation:
        """Return what differs between two equal calls, such as the time."""
        inputs = Inputs(self.runs.part.steps[0])
        pair = [call for _ in range(2) for call in self._watched(inputs, {0})]
        return explained([Joined(one) for one in self._frozen(*pair)], (), None)

    def kept(self, inputs: Inputs, fresh: Snapshot) -> Explanation:
        """Return what keeps the static inputs themselves, so that it changes with their contents.

        `fresh`: the state before the first call.
        """
        self.state.restore(self.start)
        held = [one for one in self.state.changes(fresh, self.start) if self._keeps(one, inputs)]
        self.state.restore(fresh)
        lines = tuple(
            sourced(place)
            for place in writers(lambda: self.runs.alone(0, inputs), self.state, held).values()
        )
        words = tuple(f"{change.name} keeps an input" for change in held)
        return Explanation((), words, lines, Certainty.LIKELY if lines else Certainty.MODULE_ONLY)

    def _keeps(self, change: Change, inputs: Inputs) -> bool:
        """Return whether what was made or bound lies in the memory of the static inputs."""
        route = self.state.route(change)
        try:
            value = None if route is None else route.end()
        except (LookupError, AttributeError):
            return False
        return bool(aliases(inputs.named, value, {}))

    def ways_part(self) -> tuple[Place, ...]:
        """Return where a call that takes itself for captured launches something else, if it does."""
        inputs = Inputs(self.runs.part.steps[0])
        (plain,) = self._watched(inputs, {0})
        with self.runs.backend.as_if_capturing(lambda: self.runs.part.path):
            (captured,) = self._watched(inputs, {0})
        return tuple(one.place for one in self._frozen(plain, captured)[:1])

    def recorded(self) -> Launches:
        """Return what one eager call launches."""
        (call,) = self._watched(Inputs(self.runs.part.steps[0]), {0})
        return self.runs.backend.launched(call.recording)

    def _pair(self, inputs: Inputs, step: int) -> list[_Watched]:
        """Return the step that was captured, and another one, on the same tensors."""
        if self.captured is None:
            return self._watched(inputs, {0, step})
        return [*self.captured._watched(inputs, {0}), *self._watched(inputs, {step})]  # noqa: SLF001 - of its own class

    def _frozen(self, first: _Watched, other: _Watched) -> tuple[Frozen, ...]:
        found = self.runs.backend.frozen(first.recording, other.recording)
        return tuple(replace(one, place=sourced(one.place)) for one in found)

    def _watched(self, inputs: Inputs, steps: Collection[int]) -> list[_Watched]:
        """Run all steps to the last of `steps` on the same tensors; return what those showed."""
        self.state.restore(self.start)
        found: list[_Watched] = []
        for step in range(max(steps) + 1):
            context = self._watching(step, found) if step in steps else nullcontext()
            self.runs.alone(step, inputs, during=context, static=self.static)
        return found

    @contextmanager
    def _watching(self, step: int, found: list[_Watched]) -> Iterator[None]:
        before = self.state.save()
        with self.runs.backend.recording() as recording:
            yield
        found.append(_Watched(step, recording, before, self.state.save()))

    def _changes(self, first: _Watched, other: _Watched) -> tuple[Change, ...]:
        """Return how state differs between two calls."""
        # Before them as well as after them: a value may be used before it is changed.
        between = (
            *self.state.changes(first.before, other.before),
            *self.state.changes(first.after, other.after),
        )
        # Each step is seeded in its own way; only what the call draws counts.
        drawn = self.state.changes(first.before, first.after)
        random = [change for change in drawn if change.kind == RANDOM]
        return tuple(dict.fromkeys([one for one in between if one.kind != RANDOM] + random))

    def _writers(self, inputs: Inputs, changes: Sequence[Change]) -> Mapping[str, Place]:
        if not changes:
            return {}
        self.state.restore(self.start)

        def two_steps() -> None:
            # The first may write what was there already.
            for step in range(min(2, len(self.runs.part.steps))):
                self.runs.alone(step, inputs, static=self.static)

        found = writers(two_steps, self.state, changes)
        return {name: sourced(place) for name, place in found.items()}

    def _tried(
        self,
        found: Sequence[Joined],
        causes: Sequence[Cause],
        inputs: Inputs,
        first: _Watched,
        other: _Watched,
    ) -> list[Joined]:
        """Return the frozen values with causes found by taking back one change at a time.

        What is the same in both calls once only that change is taken back comes from it.
        """
        tried = list(found)
        for cause in by_name(causes)[:_MOST_TRIED]:
            trial = self._without(cause.change, inputs, first, other)
            if trial is None:
                continue
            left = {line_of(one.place) for one in self._frozen(first, trial)}
            tried = [
                one
                if one.is_sure or line_of(one.frozen.place) in left
                else with_cause(one.frozen, cause, is_sure=True)
                for one in tried
            ]
        return tried

    def _without(
        self, change: Change, inputs: Inputs, first: _Watched, other: _Watched
    ) -> _Watched | None:
        """Run the other call with one change taken back. None where it cannot be taken back."""
        found: list[_Watched] = []
        self.state.restore(first.before)
        try:
            take_back = _taking_back(change, self.state.route(change), first.before)
            if take_back is None:
                return None
            trial = self._trying(take_back, other, found)
            self.runs.alone(other.step, inputs, during=trial)
        except Exception:  # noqa: BLE001 - user code on a state that never was may raise anything
            return None
        return found[0]

    @contextmanager
    def _trying(
        self, take_back: Callable[[], object], other: _Watched, found: list[_Watched]
    ) -> Iterator[None]:
        self.state.restore(other.before)
        take_back()
        with self._watching(other.step, found):
            yield

    def _addresses(self) -> tuple[Frozen, ...]:
        """Return the addresses of inputs that the code reads: no two calls on new ones agree."""
        read = []
        inputs = [Inputs(self.runs.part.steps[0]) for _ in range(2)]
        for one in inputs:
            self.state.restore(self.start)
            read.append(self.runs.alone(0, one, during=addresses_read()))
        return tuple(
            Frozen(sourced(place), "data_ptr", hex(was), hex(now), name="an address")
            for (place, was), (_, now) in zip(*read, strict=False)
            if was != now
        )


def _taking_back(
    change: Change, route: Route | None, before: Snapshot
) -> Callable[[], object] | None:
    """Return what gives a thing that changed the value that it has now. None for most kinds."""
    if route is not None and change.kind in ("number", "rebound"):
        holder = Route(route.start, route.steps[:-1])
        section, key = route.steps[-1]
        value = section.get(holder.end(), key)
        return lambda: section.write(holder.end(), {**section.read(holder.end()), key: value})
    for generator in global_generators():
        if generator.name == change.name and generator.name in before.generators:
            return partial(generator.set_state, before.generators[generator.name])
    return None
