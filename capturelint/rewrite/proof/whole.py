"""The whole case before and after its functions were rewritten.

A caller may write in place to what a function returned; that shows only around the module that was proven.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from capturelint.rewrite.proof.fewer import is_of_one_row, one_row_each
from capturelint.rewrite.proof.mutants import mutants
from capturelint.rewrite.proof.rounding import Context, Rounding
from capturelint.rewrite.proof.trial import Bench, Came, Input, Inputs

_PLAIN = (0.0, 1.0)  # what inputs are filled with, besides what they hold


@dataclass(slots=True)
class Whole:
    """The callables of a case on their recorded inputs, on changed ones, and on single rows.

    `is_proven`: of all that was written, the only callable has proven it on changed inputs.
    """

    benches: Sequence[Bench]
    is_proven: bool = False
    _inputs: list[Inputs] = field(default_factory=list)

    def came(self) -> list[list[Came]]:
        """Run every callable on all inputs, with the code that it has now."""
        if not self._inputs:
            self._inputs = [self._inputs_of(bench) for bench in self.benches]
        pairs = zip(self.benches, self._inputs, strict=True)
        return [[bench.came(one.calls) for one in inputs] for bench, inputs in pairs]

    def drop_raised(self, came: list[list[Came]]) -> list[list[Came]]:
        """Leave out the inputs for which the callables raised, and return what the others came to."""
        for at, (inputs, round_) in enumerate(zip(self._inputs, came, strict=True)):
            pairs = zip(inputs, round_, strict=True)
            self._inputs[at] = [one for one, old in pairs if old.seen is not None]
        return [[one for one in round_ if one.seen is not None] for round_ in came]

    def difference(self, old: list[list[Came]], new: list[list[Came]], code: Context) -> str:
        """Return in words what tells two rounds of runs apart, "" if nothing does.

        `code`: a context in which the new code runs.
        """
        rounds = zip(self.benches, self._inputs, old, new, strict=True)
        for bench, inputs, before, after in rounds:
            for one, first, second in zip(inputs, before, after, strict=True):
                # Where there is one row, its stride means nothing.
                has_layout = not is_of_one_row(one.name)
                found = Rounding(bench, new=code).difference(
                    one, first, second, with_layout=has_layout
                )
                if found:
                    return f"around it, the case is not the same with inputs {one.name}: {found}"
        return ""

    def gradient_difference(self, new: Context) -> str:
        """Return in words which gradients of the callables differ inside `new`, "" if none do.

        Old and new run in turn, so that the gradients of one step alone are held.
        """
        for bench, inputs in zip(self.benches, self._inputs, strict=True):
            if bench.instance.case.mode == "inference":
                continue
            for one in (one for one in inputs if one.has_slopes):
                before = bench.gradients(one.calls)
                with new():
                    after = bench.gradients(one.calls)
                found = Rounding(bench, new=new).gradient_difference(one, before, after)
                if found:
                    return f"around it, the case is not the same with inputs {one.name}: {found}"
        return ""

    def _inputs_of(self, bench: Bench) -> Inputs:
        steps = bench.part.steps
        recorded = [
            Input(f"of step {number}", tuple(call.copied() for call in calls))
            for number, calls in enumerate(steps)
        ]
        if self.is_proven:
            return recorded
        changed = [Input(*one) for one in mutants(steps[0], _PLAIN, 0)]
        fewer = [Input(*one) for one in one_row_each(steps[0])]
        # The case need not run on them.
        return recorded + changed + [one for one in fewer if bench.came(one.calls).seen is not None]
