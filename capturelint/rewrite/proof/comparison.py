"""New code of a function held against what the old came to, on all inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from capturelint.debug.attempts.part import Call
from capturelint.rewrite.proof.fewer import laid_otherwise, one_row_each
from capturelint.rewrite.proof.gradients import Gradients, is_filled
from capturelint.rewrite.proof.mutants import INTEGERS_ZERO
from capturelint.rewrite.proof.on_host import OnHost
from capturelint.rewrite.proof.reference import Reference
from capturelint.rewrite.proof.resized import Resized, all_true, has_integers, ways_to_resize
from capturelint.rewrite.proof.rounding import Context, Rounding
from capturelint.rewrite.proof.trial import Bench, Came, Held, Input, Inputs, is_exact, shares_less


class _Other(NamedTuple):
    """An input that is not of the case, and what the old code came to. `may_fail`: the new code may raise."""

    given: Input
    came: Came
    slopes: Gradients | str = ""
    may_fail: bool = False


_MOST_WAYS = 3  # that inputs of other sizes and other weights are tried with
_FACTORS = (0.0, 1000.0, -1000.0)


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
    _others: list[_Other] = field(default_factory=list)

    def run_old_with_one_row(self) -> None:
        """Run the code as it is now on inputs of one row, as far as it runs on them."""
        fewer = [Input(*one) for one in one_row_each(self.bench.part.steps[0])]
        came_of_one = [_Other(one, self.bench.came(one.calls)) for one in fewer]
        self._others = [one for one in came_of_one if one.came.seen is not None]

    def run_old_laid_otherwise(self, inputs: Inputs) -> None:
        """Run the code as it is now on inputs that lie otherwise in memory, one for each way that it takes."""
        for one in inputs:
            if one.leads_first and one.held is None:
                calls = laid_otherwise(one.calls)
                other = Input(f"{one.name}, which lie otherwise in memory", calls)
                self._others.append(_Other(other, self.bench.came(calls)))

    def run_old_otherwise(self, inputs: Inputs) -> None:
        """Run the code as it is now with inputs of other sizes, as far as it runs on them, and other weights.

        With one input for each way that it takes, and one of which all integers are zero.
        """
        ways = [one for one in inputs if one.leads_first and one.held is None][:_MOST_WAYS]
        # Lengths of a case may be those of whole rows, of which nothing is left out.
        if has_integers(self.bench.part.steps[0]):
            ways += [one for one in inputs if one.name == INTEGERS_ZERO and one.held is None][:1]
        host = OnHost(self.bench.part.run) if self.bench.backend.name == "cuda" else None
        is_legal = False
        for way in ways_to_resize(self.bench.part.steps[0]):
            if way.needs_others and not is_legal:
                continue
            found = self._run_resized(ways, way, host)
            # A size for which one way fails, such as that of a layer, is none of the code's.
            is_legal = len(found) == len(ways)
            if is_legal:
                self._others += [self._with_slopes(one) for one in found]
        for factor in _FACTORS if self.bench.has_weights else ():
            held = Held(weights=factor)
            for one in ways:
                name = f"{one.name}, and weights times {factor:g}"
                other = one._replace(name=name, held=held)
                weighted = _Other(other, self.bench.came(one.calls, held))
                self._others.append(self._with_slopes(weighted))

    def _run_resized(self, ways: Inputs, way: Resized, host: OnHost | None) -> list[_Other]:
        """Return what the code as it is now comes to on resized inputs, as long as it runs on them.

        On a GPU as long as it runs on the host first, as an index beyond a table ends the context there.
        """
        found: list[_Other] = []
        for one in ways:
            calls = way.of(one.calls)
            came = self._ran(calls, host)
            # Of another size than the rows that it is for, a mask may have to select nothing.
            full = all_true(calls) if way.is_alone else None
            if came is None or (full is not None and self._ran(full, host) is None):
                break
            other = one._replace(name=f"{one.name}, {way.name}", calls=calls)
            found.append(_Other(other, came, may_fail=way.may_fail))
        return found

    def _ran(self, calls: tuple[Call, ...], host: OnHost | None) -> Came | None:
        """Return what the code comes to on inputs, None if it raises, there or on the host before."""
        came = self.bench.came(calls) if host is None or host.fits(calls) else None
        return came if came is not None and came.seen is not None else None

    def _with_slopes(self, one: _Other) -> _Other:
        given = one.given
        if self.bench.instance.case.mode == "inference" or not given.has_slopes:
            return one
        return one._replace(slopes=self.bench.gradients(given.calls, given.held))

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
        """Return what tells new from old code where inputs have other sizes or lie otherwise, "" if nothing does."""
        for other in self._others:
            one = other.given
            new = self.bench.came(one.calls, one.held)
            if other.may_fail and new.seen is None:
                continue
            # The stride of one row means nothing, and results lie as in the case where inputs do.
            difference = self._rounding.difference(one, other.came, new, with_layout=False)
            if not difference and not isinstance(other.slopes, str):
                after = self.bench.gradients(one.calls, one.held)
                difference = self._rounding.gradient_difference(one, other.slopes, after)
            if difference:
                return f"not the same with inputs {one.name}: {difference}"
        return ""
