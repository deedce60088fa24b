"""What a replay leaves out, place by place, once all has been evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from capturelint.kind import Mark
from capturelint.lint.interpreter import deep_recursion
from capturelint.lint.values.kept import Arms, Store
from capturelint.lint.values.state import FunctionState

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis


class _Placed(NamedTuple):
    """A store, the function that holds it, and the arms that lead to it from where one looks."""

    store: Store
    function: int
    arms: Arms


class _Summary(NamedTuple):
    """What a method does to attributes of self, with all methods of self that it calls."""

    reads: dict[str, list[Arms]]
    stores: dict[str, list[_Placed]]


def evaluate(analysis: Analysis, roots: Iterable[int], sites: Iterable[int]) -> None:
    """Evaluate what is captured, and mark what its replays leave out."""
    with deep_recursion():
        analysis.run(roots, sites)
        Marks(analysis).settle()


class Marks:
    """Works out the marks of one finished analysis."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._summaries: dict[int, _Summary] = {}

    def settle(self) -> None:
        """Give each evaluated function the marks of its places."""
        analysis = self._analysis
        for state in analysis.states.values():
            if state.is_root and not state.callers:
                # Who replays the graph gets the Python values of the capture.
                analysis.changes.used.update(state.kept.returned)
        for source in analysis.changes.used:
            holder = analysis.states.get(source.function)
            if holder is None or analysis.changes.is_set_anew(source):
                continue
            item = holder.kept.item_counters.get(source)
            if item is None or item in holder.kept.item_numbers:
                holder.marks[source.span] = source.mark
        for state in analysis.states.values():
            read = {one.attribute for one in state.kept.reads}
            for attribute, span in state.kept.remembered:
                if attribute in read:
                    state.marks[span] = Mark.FIRST_VALUE
        for state in list(analysis.states.values()):
            if (state.kept.stores or state.kept.calls) and self._is_entry(state):
                self._mark_carried(state)

    def _is_entry(self, state: FunctionState) -> bool:
        """Return whether calls of a method come from elsewhere than its own object."""
        project, states = self._analysis.project, self._analysis.states
        owner = project.functions[state.index].owner
        if owner < 0 or not project.is_module(owner):
            # An object that is made in the call keeps nothing for the next.
            return False
        if state.is_root:
            return True
        for index in state.callers:
            caller = states.get(index)
            if caller is None or all(call.function != state.index for call in caller.kept.calls):
                return True
        return False

    def _mark_carried(self, state: FunctionState) -> None:
        """Mark the stores whose tensor a later call of the same method reads."""
        summary = self._summary(state.index)
        for attribute, stores in summary.stores.items():
            reads = summary.reads.get(attribute, [])
            is_reset = any(placed.store.mark is None for placed in stores)
            if is_reset or self._analysis.changes.is_set_from_outside(attribute):
                continue
            for placed in stores:
                holder = self._analysis.states[placed.function]
                if placed.store.mark and any(_can_both_run(placed.arms, arms) for arms in reads):
                    holder.marks[placed.store.span] = placed.store.mark

    def _summary(self, index: int) -> _Summary:
        found = self._summaries.get(index)
        if found is not None:
            return found
        found = self._summaries[index] = _Summary({}, {})
        state = self._analysis.states.get(index)
        if state is None:
            return found
        kept = state.kept
        inner = [self._summary(call.function) for call in kept.calls]
        for store in kept.stores:
            placed = _Placed(store, index, store.arms)
            found.stores.setdefault(store.attribute, []).append(placed)
        for call, below in zip(kept.calls, inner, strict=True):
            for attribute, stores in below.stores.items():
                moved = [one._replace(arms=(*call.arms, *one.arms)) for one in stores]
                found.stores.setdefault(attribute, []).extend(moved)
        for read in kept.reads:
            if not any(_sets(below, read.attribute) for below in inner[: read.calls]):
                found.reads.setdefault(read.attribute, []).append(read.arms)
        for number, (call, below) in enumerate(zip(kept.calls, inner, strict=True)):
            for attribute, ways in below.reads.items():
                is_set = any(_sets(earlier, attribute) for earlier in inner[:number])
                if attribute not in call.written and not is_set:
                    reads = found.reads.setdefault(attribute, [])
                    reads.extend((*call.arms, *arms) for arms in ways)
        return found


def _sets(summary: _Summary, attribute: str) -> bool:
    """Return whether a method may put something else in an attribute, not only add to it."""
    return any(one.store.mark is not Mark.GROWN for one in summary.stores.get(attribute, ()))


def _can_both_run(one: Arms, other: Arms) -> bool:
    """Return whether no test sends a call to the one place and not to the other."""
    taken = dict(one)
    return all(taken.get(line, outcome) is outcome for line, outcome in other)
