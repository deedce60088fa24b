"""What the callables of a case leave for later: which line reads it, and how long after."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from capturelint.debug.attempts.flow import Flow
from capturelint.debug.attempts.runs import Inputs
from capturelint.debug.dispatched.launches import Launch, Memory
from capturelint.debug.trees.memory import storage_key
from capturelint.debug.trees.trees import nodes
from capturelint.verdict import Place


@dataclass(frozen=True, slots=True)
class Read:
    """An operation on memory that a callable made in an earlier turn, or in this one before.

    `maker`, `made`: which callable, and in which turn. `reader`, `turn`: the same of who reads;
    None for what is prepared before a step.
    """

    place: Place
    operation: str
    maker: str
    made: int
    reader: str | None
    turn: int

    @property
    def is_late(self) -> bool:
        """Return whether what is prepared reads it after the next call of its maker."""
        return self.reader is None and self.made < self.turn - 1

    @property
    def is_of_earlier_turn(self) -> bool:
        """Return whether a callable reads what was made in a turn before: a graph has one address."""
        return self.reader is not None and self.made < self.turn


def reads(flow: Flow, turns: int) -> list[Read]:
    """Return who reads what others left, in so many turns of an eager run. Raises UndecidedError."""
    makers = _Makers()
    found: list[Read] = []
    flow.state.restore(flow.start)
    makers.know(flow.start.watched.tensors)
    with flow.stages.eager():
        for turn, step in enumerate(flow.steps[:turns]):
            with flow.backend.recording() as recording:
                flow.prepare(step)
            found += makers.reads(flow.backend.launched(recording).items, None, turn)
            makers.know(flow.state.save().watched.tensors)
            for name, runs in flow.runs.items():
                inputs = Inputs(runs.part.steps[step])
                calls = inputs.filled(runs.part.steps[step])
                makers.know(_tensors(inputs.named))
                runs.begin(step, static=False)
                with flow.backend.recording() as recording:
                    results = runs.call(calls)
                found += makers.reads(flow.backend.launched(recording).items, name, turn)
                makers.made(_tensors(results), name, turn)
                makers.made(flow.state.save().watched.tensors, name, turn)
    return found


@dataclass(slots=True)
class _Makers:
    """Who made which storage. All are kept alive, so that none takes the place of another."""

    _made: dict[int, tuple[str, int] | None] = field(default_factory=dict)
    _kept: list[Tensor] = field(default_factory=list)

    def know(self, tensors: Iterable[Tensor]) -> None:
        """Take it that no callable made these."""
        for tensor in tensors:
            self._add(tensor, None)

    def made(self, tensors: Iterable[Tensor], name: str, turn: int) -> None:
        """Take it that `name` made in `turn` those of them that are new."""
        for tensor in tensors:
            self._add(tensor, (name, turn))

    def reads(self, launches: Iterable[Launch], reader: str | None, turn: int) -> Iterator[Read]:
        """Give the operations that work on what was made."""
        for launch in launches:
            for maker in self._makers(launch.arguments):
                yield Read(launch.place, launch.operation, *maker, reader, turn)

    def _makers(self, arguments: Iterable[Any]) -> Iterator[tuple[str, int]]:
        for one in arguments:
            if isinstance(one, Memory) and one.origin == "older":
                maker = self._made.get(one.number)
                if maker is not None:
                    yield maker

    def _add(self, tensor: Tensor, maker: tuple[str, int] | None) -> None:
        key = storage_key(tensor)
        if key is not None and key not in self._made:
            self._made[key] = maker
            self._kept.append(tensor)


def _tensors(tree: object) -> Iterator[Tensor]:
    return (one for one in nodes(tree) if isinstance(one, Tensor))
