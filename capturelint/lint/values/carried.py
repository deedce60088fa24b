"""What one call of a method leaves in attributes of self for the next, through all methods it calls."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from capturelint.kind import Mark
from capturelint.lint.values.kept import Arms, Call, Read, Store
from capturelint.lint.values.state import FunctionState

# Ways to a method double with each method between that calls the next one twice.
_MOST_WAYS = 12
_MOST_READS = 100
_MOST_TESTS = 60

Tests = frozenset[tuple[tuple[int, int], bool]]


class _Way(NamedTuple):
    """One way to a method: outcomes of the tests that lead there, and what is set before."""

    tests: Tests = frozenset()
    written: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        """Return how much it asks for: a way is never inside a shorter one."""
        return len(self.tests) + len(self.written)


class Carried:
    """Finds them among the evaluated functions. `states` holds those by their index."""

    def __init__(self, states: Mapping[int, FunctionState]) -> None:
        self._states = states
        self._set_by: dict[int, frozenset[str]] = {}

    def stores(self, entry: int) -> list[tuple[int, Store]]:
        """Return the functions and stores whose tensor a later call of the method `entry` reads."""
        reached = self._reached(entry)
        wanted = self._wanted(reached)
        if not wanted:
            return []
        ways = self._ways(entry, wanted)
        reads = self._reads(ways, wanted)
        return [
            (index, store)
            for index, found in ways.items()
            for store in self._states[index].kept.stores
            if any(
                _can_both_run(way.tests, store.arms, tests)
                for tests in reads.get(store.attribute, ())
                for way in found
            )
        ]

    def _reached(self, entry: int) -> dict[int, None]:
        """Return the methods that a call of one may run, itself among them."""
        found = dict.fromkeys([entry])
        pending = [entry]
        while pending:
            for call in self._states[pending.pop()].kept.calls:
                if call.function in self._states and call.function not in found:
                    found[call.function] = None
                    pending.append(call.function)
        return found

    def _wanted(self, reached: Mapping[int, None]) -> frozenset[str]:
        """Return the attributes that are read, and in which only tensors are put."""
        everything = [self._states[index].kept for index in reached]
        stores = [store for kept in everything for store in kept.stores]
        held = {store.attribute for store in stores}
        reset = {store.attribute for store in stores if store.mark is None}
        # Items are gone where the list or dict itself is replaced.
        reset |= {name for name in held if "[" in name and name.partition("[")[0] in held}
        read = {one.attribute for kept in everything for one in kept.reads}
        return frozenset((held & read) - reset)

    def _ways(self, entry: int, wanted: frozenset[str]) -> dict[int, list[_Way]]:
        """Return the shortest ways to each method, none inside another."""
        found: dict[int, list[_Way]] = {}
        # The number keeps the order in which calls stand in the source.
        pending = [(0, 0, entry, _Way())]
        number = 0
        while pending:
            _, _, index, way = heapq.heappop(pending)
            known = found.setdefault(index, [])
            if len(known) >= _MOST_WAYS or any(_is_inside(one, way) for one in known):
                continue
            known.append(way)
            for call, before in self._calls(index):
                tests = _both(way.tests, call.arms)
                if tests is not None and len(tests) <= _MOST_TESTS:
                    number += 1
                    further = _Way(tests, way.written | (before & wanted))
                    heapq.heappush(pending, (further.size, number, call.function, further))
        return found

    def _calls(self, index: int) -> Iterator[tuple[Call, frozenset[str]]]:
        """Yield the calls of a method, each with what has been set before it."""
        earlier: frozenset[str] = frozenset()
        for call in self._states[index].kept.calls:
            if call.function in self._states:
                yield call, call.written | earlier
                earlier |= self._sets(call.function)

    def _reads(
        self, ways: Mapping[int, list[_Way]], wanted: frozenset[str]
    ) -> dict[str, list[Tests]]:
        """Return the tests on the shortest ways to reads of attributes that the call has not set."""
        found: dict[str, dict[Tests, None]] = {}
        for index in ways:
            for read in self._states[index].kept.reads:
                if read.attribute in wanted and not self._is_set_before(index, read):
                    known = found.setdefault(read.attribute, {})
                    for way in ways[index]:
                        tests = _both(way.tests, read.arms)
                        if read.attribute not in way.written and tests is not None:
                            known[tests] = None
        return {name: sorted(known, key=len)[:_MOST_READS] for name, known in found.items()}

    def _is_set_before(self, index: int, read: Read) -> bool:
        """Return whether a method that has been called before a read sets the attribute."""
        earlier = self._states[index].kept.calls[: read.calls]
        return any(
            read.attribute in self._sets(call.function)
            for call in earlier
            if call.function in self._states
        )

    def _sets(self, index: int) -> frozenset[str]:
        """Return the attributes in which a call may put something else, not only add to it."""
        if index not in self._set_by:
            self._set_by[index] = frozenset(
                store.attribute
                for one in self._reached(index)
                for store in self._states[one].kept.stores
                if store.mark is not Mark.GROWN
            )
        return self._set_by[index]


def _is_inside(one: _Way, other: _Way) -> bool:
    """Return whether all that the way `one` asks for is asked for by the other too."""
    return one.tests <= other.tests and one.written <= other.written


def _both(tests: Tests, arms: Arms) -> Tests | None:
    """Return the outcomes of two parts of a way, None where no call takes both."""
    found = tests.union(arms)
    return found if len({test for test, _ in found}) == len(found) else None


def _can_both_run(tests: Tests, arms: Arms, other: Tests) -> bool:
    """Return whether no test sends a call to the one place and not to the other."""
    place = _both(tests, arms)
    return place is not None and _both(place, tuple(other)) is not None
