"""Why a replay is stale: the values that a graph bakes in, and the lines that change them."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from capturelint.debug.addresses import addresses_read
from capturelint.debug.aliasing import aliases
from capturelint.debug.causes import writers
from capturelint.debug.frames import sourced
from capturelint.debug.runs import Inputs, Runs
from capturelint.debug.state import Change, Snapshot, State
from capturelint.verdict import Certainty, Frozen, Place

_RANDOM = "host random numbers"


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a graph bakes in. `places`: the line that changes it first, then where it is used.

    `changes`: state that differs between the two calls, in words.
    """

    frozen: tuple[Frozen, ...] = ()
    changes: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    certainty: Certainty = Certainty.MODULE_ONLY


@dataclass(frozen=True, slots=True)
class _Watched:
    """One call: what it launched, and the state before and after it."""

    recording: Any
    before: Snapshot
    after: Snapshot


@dataclass(frozen=True, slots=True)
class Explainer:
    """Explains by running a part eagerly. `start`: the state that each of these runs starts from."""

    runs: Runs
    state: State
    start: Snapshot

    def explanation(self, step: int, returned: tuple[str, str] | None) -> Explanation:
        """Return why the graph of the first step does not serve `step`.

        `returned`: what the replay and eager came to there in words, where it is no tensor.
        """
        inputs = Inputs(self.runs.part.steps[0])
        first, other = self._watched(inputs, {0, step or 1})
        frozen = self._frozen(first, other) or self._addresses()
        changes = self._changes(first, other)
        written = self._writers(inputs, changes)
        causes = [_Cause(change, written.get(change.name)) for change in changes]
        return _explanation([_joined(one, causes) for one in frozen], causes, returned)

    def unrepeatable(self) -> Explanation:
        """Return what differs between two equal calls, such as the time."""
        inputs = Inputs(self.runs.part.steps[0])
        pair = [call for _ in range(2) for call in self._watched(inputs, {0})]
        return _explanation([_Joined(one) for one in self._frozen(*pair)], (), None)

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

    def _frozen(self, first: _Watched, other: _Watched) -> tuple[Frozen, ...]:
        found = self.runs.backend.frozen(first.recording, other.recording)
        return tuple(replace(one, place=sourced(one.place)) for one in found)

    def _watched(self, inputs: Inputs, steps: Collection[int]) -> list[_Watched]:
        """Run all steps to the last of `steps` on the same tensors; return what those showed."""
        self.state.restore(self.start)
        found: list[_Watched] = []
        for step in range(max(steps) + 1):
            context = self._watching(found) if step in steps else nullcontext()
            self.runs.alone(step, inputs, during=context)
        return found

    @contextmanager
    def _watching(self, found: list[_Watched]) -> Iterator[None]:
        before = self.state.save()
        with self.runs.backend.recording() as recording:
            yield
        found.append(_Watched(recording, before, self.state.save()))

    def _changes(self, first: _Watched, other: _Watched) -> tuple[Change, ...]:
        """Return how state differs between two calls."""
        # Before them as well as after them: a value may be used before it is changed.
        between = (
            *self.state.changes(first.before, other.before),
            *self.state.changes(first.after, other.after),
        )
        # Each step is seeded in its own way; only what the call draws counts.
        drawn = self.state.changes(first.before, first.after)
        random = [change for change in drawn if change.kind == _RANDOM]
        return tuple(dict.fromkeys([one for one in between if one.kind != _RANDOM] + random))

    def _writers(self, inputs: Inputs, changes: Sequence[Change]) -> Mapping[str, Place]:
        if not changes:
            return {}
        self.state.restore(self.start)
        found = writers(lambda: self.runs.alone(0, inputs), self.state, changes)
        return {name: sourced(place) for name, place in found.items()}

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


@dataclass(frozen=True, slots=True)
class _Cause:
    """A change of state, and the line that makes it, where that was seen."""

    change: Change
    place: Place | None

    def is_value_of(self, frozen: Frozen) -> bool:
        """Return whether it holds the values that were frozen."""
        values = (self.change.before, self.change.after)
        return "" not in values and values == (frozen.before, frozen.after)

    def is_named_in(self, frozen: Frozen) -> bool:
        """Return whether the line that uses the frozen value names it."""
        name = re.split(r"[ .\[]", self.change.name.rstrip("]'\""))[-1].strip("'\"")
        return bool(name) and re.search(rf"\b{re.escape(name)}\b", frozen.place.source) is not None

    def is_made_at(self, frozen: Frozen) -> bool:
        """Return whether it is made on the line that uses the frozen value."""
        return self.place is not None and _line(self.place) == _line(frozen.place)

    def is_made_near(self, frozen: Frozen) -> bool:
        """Return whether it is made in the function that uses the frozen value."""
        place = self.place
        used = frozen.place
        return place is not None and (place.path, place.function) == (used.path, used.function)


_Test = Callable[[_Cause, Frozen], bool]
_SURE: tuple[_Test, ...] = (_Cause.is_value_of, _Cause.is_named_in, _Cause.is_made_at)


@dataclass(frozen=True, slots=True)
class _Joined:
    """A frozen value with its cause. `is_sure`: whether value or line tell the cause."""

    frozen: Frozen
    is_sure: bool = True


def _joined(frozen: Frozen, causes: Sequence[_Cause]) -> _Joined:
    """Return a frozen value with what changes it, where one change stands out."""
    for test in (*_SURE, _Cause.is_made_near):
        fitting = _by_name(cause for cause in causes if test(cause, frozen))
        if len(fitting) == 1:
            cause = fitting[0]
            found = replace(frozen, name=_spoken(cause.change), cause=cause.place)
            return _Joined(found, test in _SURE)
        if fitting:
            break
    return _Joined(frozen)


def _by_name(causes: Iterable[_Cause]) -> list[_Cause]:
    """Return one for each name: what changes before and after the call is the same change."""
    return list({cause.change.name: cause for cause in causes}.values())


def _explanation(
    joined: Sequence[_Joined], causes: Sequence[_Cause], returned: tuple[str, str] | None
) -> Explanation:
    frozen = tuple(one.frozen for one in joined)
    words = tuple(_in_words(cause.change) for cause in _by_name(causes))
    best = next((one for one in joined if one.frozen.cause is not None), None)
    best = best or next(iter(joined), None)
    if best is not None:
        ends = (best.frozen.cause, best.frozen.place)
        places = tuple({_line(place): place for place in ends if place is not None}.values())
        certainty = Certainty.SHOWN if best.is_sure else Certainty.LIKELY
        return Explanation(frozen, words, places, certainty)
    fitting = [cause for cause in causes if (cause.change.before, cause.change.after) == returned]
    lines = tuple(cause.place for cause in _by_name(fitting or causes) if cause.place is not None)
    certainty = Certainty.LIKELY if lines else Certainty.MODULE_ONLY
    return Explanation(frozen, words, lines, certainty)


def _spoken(change: Change) -> str:
    """Return what the user's code calls what changed."""
    if change.kind == _RANDOM or " " in change.name:
        return change.name
    return f"self.{change.name.rpartition('.')[2]}"


def _in_words(change: Change) -> str:
    if not change.before and not change.after:
        return f"{change.name}: {change.kind}"
    return f"{change.name}: {change.before or 'nothing'} -> {change.after} ({change.kind})"


def _line(place: Place) -> tuple[str, int]:
    return place.path, place.line
