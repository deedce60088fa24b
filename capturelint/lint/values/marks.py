"""What a replay leaves out, place by place, once all has been evaluated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from capturelint.kind import Mark
from capturelint.lint.interpreter import deep_recursion
from capturelint.lint.values.carried import Carried
from capturelint.lint.values.state import FunctionState
from capturelint.lint.values.streams import is_ordered

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis


def evaluate(analysis: Analysis, roots: Iterable[int], sites: Iterable[int]) -> None:
    """Evaluate what is captured, and mark what its replays leave out."""
    with deep_recursion():
        analysis.run(roots, sites)
        Marks(analysis).settle()


class Marks:
    """Works out the marks of one finished analysis."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._carried = Carried(analysis.states)

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
        self._mark_streams()
        for state in list(analysis.states.values()):
            if state.kept.moved and self._is_of_module(state):
                state.marks.update(dict.fromkeys(state.kept.moved, Mark.MOVED))
            if (state.kept.stores or state.kept.calls) and self._is_entry(state):
                self._mark_carried(state)

    def _mark_streams(self) -> None:
        states = self._analysis.states
        for state in states.values():
            if state.kept.streams and not is_ordered(state, states):
                state.marks.update(dict.fromkeys(state.kept.streams, Mark.UNFORKED))

    def _is_entry(self, state: FunctionState) -> bool:
        """Return whether calls of a method come from elsewhere than its own object."""
        states = self._analysis.states
        if not self._is_of_module(state):
            # An object that is made in the call keeps nothing for the next.
            return False
        if state.is_root:
            return True
        for index in state.callers:
            caller = states.get(index)
            if caller is None or all(call.function != state.index for call in caller.kept.calls):
                return True
        return False

    def _is_of_module(self, state: FunctionState) -> bool:
        project = self._analysis.project
        owner = project.functions[state.index].owner
        return owner >= 0 and project.is_module(owner)

    def _mark_carried(self, state: FunctionState) -> None:
        """Mark the stores whose tensor a later call of the same method reads."""
        changes = self._analysis.changes
        for function, store in self._carried.stores(state.index):
            if store.mark and not changes.is_set_from_outside(store.attribute):
                self._analysis.states[function].marks[store.span] = store.mark
