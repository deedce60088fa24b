"""The search for the first call, line and operation that a run dies with, on runs that are only numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capturelint.debug.killing.first import Questions, Sizes, Spot, first_dying, first_spot


@given(count=st.integers(1, 400), data=st.data())
def test_the_first_that_dies_is_found_at_the_price_of_two_deaths(
    count: int, data: st.DataObject
) -> None:
    first = data.draw(st.integers(1, count))
    asked: list[int] = []

    def dies(number: int) -> bool:
        asked.append(number)
        return number >= first

    assert first_dying(count, dies, is_last_known=True) == first
    assert len(set(asked)) == len(asked)
    assert sum(number >= first for number in asked) <= 2
    assert len(asked) <= 16 + -(-count // 16)
    assert count not in asked


@pytest.mark.parametrize("count", [0, 1, 5, 100])
def test_where_none_dies_none_is_found(count: int) -> None:
    assert first_dying(count, lambda _: False, is_last_known=False) is None


@dataclass
class Run:
    """Calls in calls, lines in those, operations in these. Dies from one spot on.

    `calls`: the sizes of each call. The parts of a call run in the order of `_order`.
    """

    sizes: dict[tuple[int, ...], Sizes]
    deadly: tuple[float, ...]
    asked: list[str] = field(default_factory=list)

    def questions(self) -> Questions:
        return Questions(
            sizes=lambda calls: self.sizes[calls],
            after=lambda calls: self._dies(f"after {calls}", (*calls, 9.0)),
            before=lambda calls: self._dies(f"before {calls}", calls),
            at_line=lambda calls, line: self._dies(f"line {calls} {line}", (*calls, line + 0.4)),
            at_operation=lambda calls, line, number: self._dies(
                f"operation {calls} {line} {number}", (*calls, line + number / 100)
            ),
        )

    def _dies(self, words: str, until: tuple[float, ...]) -> bool:
        self.asked.append(words)
        return until >= self.deadly


def test_the_deepest_call_its_line_and_its_operation_are_found() -> None:
    sizes = {
        (): Sizes(3, 0, {}),
        (2,): Sizes(2, 0, {}),
        (2, 1): Sizes(0, 3, {1: 1, 2: 2, 3: 1}),
    }
    run = Run(sizes, deadly=(2, 1, 2.02))

    assert first_spot(run.questions()) == Spot((2, 1), 2, 2)
    assert run.asked[:3] == ["after (1,)", "after (2,)", "before (2,)"]
    assert len(set(run.asked)) == len(run.asked)


def test_a_run_that_dies_before_the_call_dies_with_lines_of_its_own() -> None:
    run = Run({(): Sizes(1, 2, {1: 1})}, deadly=(0.5,))

    assert first_spot(run.questions()).calls == ()
    assert "before (1,)" in run.asked


def test_a_line_that_runs_no_operation_that_dies_is_all_that_is_told() -> None:
    run = Run({(): Sizes(0, 2, {1: 1, 2: 3})}, deadly=(2.3,))

    assert first_spot(run.questions()) == Spot((), 2, 0)


def test_of_a_call_without_lines_the_operation_is_found() -> None:
    run = Run({(): Sizes(0, 0, {0: 4})}, deadly=(0.03,))

    assert first_spot(run.questions()) == Spot((), 0, 3)
