"""Small instances of the choice of sizes, drawn, and the answer by trying every ladder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, combinations

from hypothesis import strategies as st

from capturelint.measure.curves import Curve
from capturelint.measure.ladder import Ladder, Limits, ladder
from capturelint.measure.steps import Steps, steps_of
from capturelint.measure.times import Costs
from capturelint.measure.traffic import Traffic


@dataclass(frozen=True)
class Instance:
    traffic: Traffic
    costs: Costs
    largest: int
    rows_per_request: int

    @property
    def steps(self) -> Steps:
        return steps_of(
            self.traffic,
            self.costs,
            largest=self.largest,
            rows_per_request=self.rows_per_request,
        )

    def ladder(self, sizes: Sequence[int]) -> Ladder:
        return ladder(sizes, self.traffic, self.costs)

    def fastest(self, limits: Limits) -> float:
        """Return the least step time of all ladders within the limits, also of sizes that no step has."""
        candidates = range(self.rows_per_request, self.largest + 1, self.rows_per_request)
        ladders = (
            self.ladder(sizes)
            for count in range(len(candidates) + 1)
            for sizes in combinations(candidates, count)
        )
        return min(one.step for one in ladders if limits.allow(one))


@st.composite
def curves(draw: st.DrawFn) -> Curve:
    """Return a curve that does not fall, flat in places, with kinks; above 0."""
    sizes = sorted(draw(st.sets(st.integers(1, 12), min_size=1, max_size=5)))
    rises = draw(st.lists(st.integers(0, 30), min_size=len(sizes), max_size=len(sizes)))
    return Curve(tuple(sizes), tuple((value + 1) / 4 for value in accumulate(rises)))


@st.composite
def instances(draw: st.DrawFn) -> Instance:
    counts = draw(st.dictionaries(st.integers(1, 11), st.integers(1, 20), min_size=1, max_size=8))
    rows = draw(st.integers(1, 3))
    return Instance(
        traffic=Traffic(tuple(sorted(counts.items()))),
        costs=Costs(
            eager=draw(curves()),
            graph=draw(curves()),
            capture=draw(curves()),
            memory=draw(curves()),
            pool=draw(curves()),
        ),
        largest=rows * draw(st.integers(1, 9 // rows)),
        rows_per_request=rows,
    )


limits = st.builds(
    Limits,
    rungs=st.none() | st.integers(1, 4),
    startup=st.none() | st.floats(0.001, 0.1),
    memory=st.none() | st.floats(0.1, 60),
)
