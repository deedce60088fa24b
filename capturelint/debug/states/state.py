"""What calls may change besides their results: save it, put it back, tell what changed."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch

from capturelint.debug.states.definitions import Definitions
from capturelint.debug.states.differences import Change, Moment, Route, differences
from capturelint.debug.states.held import Held, held_in
from capturelint.debug.states.host_random import global_generators, is_same_state
from capturelint.debug.states.storages import Contents, Storages
from capturelint.debug.states.watched import Watched, watched

__all__ = ["Change", "Snapshot", "State"]


class Snapshot:
    """The state at one time. It can be restored any number of times.

    It keeps alive the objects that it watches, and clones of the storages that calls write.
    """

    def __init__(
        self, watched: Watched, storages: dict[int, Contents], generators: Mapping[str, Any]
    ) -> None:
        self.watched = watched
        self.storages = storages
        self.generators = generators


class State:
    """Attributes, storages, generators and variables of files that calls of `roots` may change.

    `roots`: modules or functions; by name where paths are to start with one. Their closures,
    defaults and hooks and the files that define them and their classes are watched too. `extra`:
    tensors that nothing leads to. Not watched: generators of the device, `functools.lru_cache`,
    iterators, what custom kernels write outside of buffers, and memory written before it was
    `watching` for the first time.
    """

    def __init__(
        self,
        roots: Sequence[object] | Mapping[str, object],
        *,
        extra: Sequence[torch.Tensor] = (),
    ) -> None:
        self._roots = dict(roots) if isinstance(roots, Mapping) else _named(roots)
        self._extra = tuple(extra)
        self._definitions = Definitions()
        self._storages = Storages()
        self._snapshots: weakref.WeakSet[Snapshot] = weakref.WeakSet()
        self._latest: Callable[[], Watched | None] = lambda: None
        self._routes: dict[Change, Route] = {}

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Remember the storages that are written inside and were there before.

        Snapshots that are alive learn what a storage held before it was first written.
        """

        def learn(key: int, contents: Contents) -> None:
            for snapshot in self._snapshots:
                snapshot.storages.setdefault(key, contents)

        with self._storages.watching(learn):
            yield
        for snapshot in self._snapshots:
            gone = [key for key, contents in snapshot.storages.items() if contents.is_gone]
            for key in gone:
                del snapshot.storages[key]

    def save(self) -> Snapshot:
        """Return the state as it is now. Clones buffers, `extra` and what watched calls wrote."""
        found = watched(self._roots, self._definitions, self._latest())
        self._latest = weakref.ref(found)
        snapshot = Snapshot(
            found,
            self._storages.saved([*found.buffers, *self._extra]),
            {generator.name: generator.state() for generator in global_generators()},
        )
        self._snapshots.add(snapshot)
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Put everything back as it was, in place: the same objects hold the same values."""
        snapshot.watched.restore()
        for contents in snapshot.storages.values():
            contents.restore()
        for generator in global_generators():
            if generator.name in snapshot.generators:
                generator.set_state(snapshot.generators[generator.name])

    def held(self, snapshot: Snapshot) -> Held:
        """Return the tensors on the device that calls can reach and may write, as of then."""
        return held_in(snapshot.watched, self._extra, self._storages.written)

    def changes(self, before: Snapshot, after: Snapshot) -> tuple[Change, ...]:
        """Return what changed between two snapshots, by name.

        Not what was written in place on the device: a graph writes that too.
        """
        found: dict[str, Change] = {}
        moments = Moment(before.watched, before.storages), Moment(after.watched, after.storages)
        for change, route in differences(*moments):
            if change.name not in found:
                found[change.name] = change
                self._routes[change] = route
        for name, state in before.generators.items():
            if not is_same_state(state, after.generators.get(name, state)):
                found[name] = Change(name, "host random numbers")
        return tuple(found[name] for name in sorted(found))

    def route(self, change: Change) -> Route | None:
        """Return how to get to what changed, None if `changes` of this state did not tell it."""
        return self._routes.get(change)


def _named(roots: Sequence[object]) -> dict[str, object]:
    if len(roots) == 1:
        return {"": roots[0]}
    return {f"roots[{number}]": root for number, root in enumerate(roots)}
