"""Figures between measured sizes, and measured ones that fall."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from capturelint.measure.curves import Curve, levelled


def test_between_two_sizes_the_figure_is_on_their_line() -> None:
    curve = Curve((2, 4, 12), (1.0, 2.0, 10.0))

    assert [curve.at(size) for size in (2, 3, 4, 6, 12)] == [1.0, 1.5, 2.0, 4.0, 10.0]


def test_below_the_first_size_it_is_flat_and_above_the_last_it_goes_on() -> None:
    curve = Curve((2, 4, 12), (1.0, 2.0, 10.0))

    assert [curve.at(size) for size in (1, 13, 20)] == [1.0, 11.0, 18.0]


def test_of_one_size_the_figure_is_everywhere() -> None:
    assert [Curve((8,), (3.0,)).at(size) for size in (1, 8, 64)] == [3.0, 3.0, 3.0]


def test_figures_that_fall_are_averaged_and_others_stay() -> None:
    assert levelled([1.0, 3.0, 2.0, 5.0]) == [1.0, 2.5, 2.5, 5.0]
    assert levelled([4.0, 1.0, 1.0]) == [2.0, 2.0, 2.0]
    assert levelled([1.0, 1.0, 2.0]) == [1.0, 1.0, 2.0]


@settings(deadline=None)
@given(st.lists(st.integers(0, 100), min_size=1, max_size=8))
def test_levelled_figures_rise_and_keep_their_mean(values: list[int]) -> None:
    level = levelled(values)

    assert level == sorted(level)
    assert abs(sum(level) - sum(values)) < 1e-9
