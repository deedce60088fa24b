"""New code of a function held against what the old came to, on all inputs."""

from __future__ import annotations

from dataclasses import dataclass, field

from capturelint.rewrite.proof.fewer import laid_otherwise, one_row_each
from capturelint.rewrite.proof.gradients import is_filled
from capturelint.rewrite.proof.reference import Reference
from capturelint.rewrite.proof.rounding import Context, Rounding
from capturelint.rewrite.proof.trial import Bench, Came, Input, Inputs, is_exact, shares_less


@dataclass(slots=True)
class Comparison:
    """What holding new code against old on one bench showed so far.

    `is_exact`: they are the same bit for bit. `has_gradients`: gradients were compared;
    `fills_gradients`: some are zeros that were None. `copies`: a result no longer shares memory with
    an input or a buffer. `old`: a context in which the old code runs.
    """

    bench: Bench
    old: Context
    is_exact: bool = True
    has_gradients: bool = False
    fills_gradients: bool = False
    copies: bool = False
    _others: list[tuple[Input, Came]] = field(default_factory=list)

    def run_old_with_one_row(self) -> None:
        """Run the code as it is now on inputs of one row, as far as it runs on them."""
        fewer = [Input(*one) for one in one_row_each(self.bench.part.steps[0])]
        came_of_one = [(one, self.bench.came(one.calls)) for one in fewer]
        self._others = [(one, came) for one, came in came_of_one if came.seen is not None]

    def run_old_laid_otherwise(self, inputs: Inputs) -> None:
        """Run the code as it is now on inputs that lie otherwise in memory, one for each way that it takes."""
        for one in inputs:
            if one.leads_first and one.held is None:
                calls = laid_otherwise(one.calls)
                other = Input(f"{one.name}, which lie otherwise in memory", calls)
                self._others.append((other, self.bench.came(calls)))

    @property
    def _rounding(self) -> Rounding:
        return Rounding(self.bench, old=self.old)

    def forward(self, reference: Reference) -> str:
        """Return what tells the code that runs now from the old one, "" if nothing does."""
        for one, old in zip(reference.inputs, reference.came, strict=True):
            new = self.bench.came(one.calls, one.held)
            is_same = is_exact(old, new)
            difference = self._rounding.difference(one, old, new, is_same=is_same)
            if difference:
                return f"not the same with inputs {one.name}: {difference}"
            self.is_exact = self.is_exact and is_same
            self.copies = self.copies or shares_less(old, new)
        return self._changes(reference)

    def _changes(self, reference: Reference) -> str:
        """Return what the code does to objects that the old code does not, or the other way round."""
        for number, old in reference.changes.items():
            one = reference.inputs[number]
            new = self.bench.changes(one.calls, one.held)
            if new != old:
                other = sorted({change.name for change in {*new} ^ {*old}})
                return f"not the same with inputs {one.name}: `{other[0]}` is changed otherwise"
        return ""

    def backward(self, reference: Reference) -> str:
        """Return which gradients differ, "" if none do."""
        for number, old in reference.slopes.items():
            one = reference.inputs[number]
            new = self.bench.gradients(one.calls, one.held)
            difference = self._rounding.gradient_difference(one, old, new)
            if difference:
                return f"not the same with inputs {one.name}: {difference}"
            if isinstance(old, str) or isinstance(new, str):
                continue
            self.has_gradients = self.has_gradients or any(
                slope is not None for slope in (*old.values(), *new.values())
            )
            self.fills_gradients = self.fills_gradients or is_filled(old, new)
        return ""

    def with_others(self) -> str:
        """Return what tells new from old code where inputs have one row or lie otherwise, "" if nothing does."""
        for one, old in self._others:
            new = self.bench.came(one.calls)
            # The stride of one row means nothing, and results lie as in the case where inputs do.
            difference = self._rounding.difference(one, old, new, with_layout=False)
            if difference:
                return f"not the same with inputs {one.name}: {difference}"
        return ""
