"""Within limits of any kind the best path is that which trying every path finds, or the gap says more."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import accumulate, combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capturelint.measure.by_count import best_by_count
from capturelint.measure.moves import improved
from capturelint.measure.prices import Prices, Resource
from capturelint.measure.steps import Steps
from capturelint.measure.within import best_within


def drawn_steps(drawn: random.Random, sizes: int) -> Steps:
    """Return so many sizes; eager steps take three to five times as long as the slowest graph."""
    counts = [0.0, *accumulate(drawn.randint(1, 9) for _ in range(sizes))]
    graph = list(accumulate(drawn.randint(1, 6) for _ in range(sizes)))
    eager = [
        (after - before) * graph[-1] * drawn.randint(3, 5) for before, after in pairwise(counts)
    ]
    return Steps(
        sizes=list(range(sizes + 1)),
        counts=counts,
        graph=[0.0, *map(float, graph)],
        above=[sum(eager[node:]) for node in range(sizes + 1)],
    )


def drawn_resources(drawn: random.Random, sizes: int, count: int) -> list[Resource]:
    """Return things that rungs take without any order, so that what fits is a puzzle."""
    resources = []
    for _ in range(count):
        use = [0.0, *(float(drawn.randint(3, 40)) for _ in range(sizes))]
        last = [0.0, *accumulate(float(drawn.randint(0, 5)) for _ in range(sizes))]
        resources.append(Resource(use, last, float(drawn.randint(10, 25 * max(1, sizes // 2)))))
    return resources


def fastest(steps: Steps, resources: Sequence[Resource]) -> float:
    nodes = range(1, len(steps.sizes))
    paths = (path for count in range(len(nodes) + 1) for path in combinations(nodes, count))
    return min(steps.time(path) for path in paths if all(one.allows(path) for one in resources))


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 3))
def test_no_path_within_the_limits_is_faster(seed: int, sizes: int, count: int) -> None:
    drawn = random.Random(seed)
    steps = drawn_steps(drawn, sizes)
    resources = drawn_resources(drawn, sizes, count)
    by_count = best_by_count(steps, most=seed % 10) if seed % 2 else []
    chosen = best_within(steps, resources, by_count=by_count)

    assert chosen.gap == 0
    assert all(one.allows(chosen.path) for one in resources)
    assert steps.time(chosen.path) == fastest(steps, resources)


@pytest.mark.parametrize("seed", [122, 230, 281, 318, 699, 1359])
def test_a_slower_beginning_that_leaves_more_of_one_thing_may_win(seed: int) -> None:
    drawn = random.Random(seed)
    sizes = drawn.randint(8, 10)
    steps = drawn_steps(drawn, sizes)
    resources = drawn_resources(drawn, sizes, 2)

    assert steps.time(best_within(steps, resources).path) == fastest(steps, resources)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 3))
def test_the_bound_is_below_and_moves_stay_within(seed: int, sizes: int, count: int) -> None:
    drawn = random.Random(seed)
    steps = drawn_steps(drawn, sizes)
    resources = drawn_resources(drawn, sizes, count)
    prices = Prices(steps, resources)
    met = prices.best_path()
    moved = improved(steps, resources, met)

    assert prices.bound <= fastest(steps, resources) * (1 + 1e-9)
    assert all(one.allows(moved) for one in resources)
    assert steps.time(moved) <= steps.time(met)


def test_with_one_price_the_bound_is_the_highest_there_is() -> None:
    drawn = random.Random(4)
    steps = drawn_steps(drawn, 40)
    (resource,) = drawn_resources(drawn, 40, 1)
    found = Prices(steps, [resource])

    assert found.prices[0] > 0
    for share in (0.9, 0.99, 1.01, 1.1):
        price = found.prices[0] * share
        # What a path costs at this price, at least: of all paths that were met.
        bound = min(steps.time(p) + price * (resource.of(p) - resource.limit) for p in found.paths)
        assert bound <= found.bound * (1 + 1e-9)


@pytest.mark.parametrize("sizes", [60, 600])
def test_where_the_search_gives_up_it_says_how_far_the_best_may_be(sizes: int) -> None:
    drawn = random.Random(sizes)
    steps = drawn_steps(drawn, sizes)
    resources = drawn_resources(drawn, sizes, 2)
    prices = Prices(steps, resources)
    chosen = best_within(steps, resources)

    assert all(one.allows(chosen.path) for one in resources)
    assert 0 <= chosen.gap < 0.1
    if chosen.gap:
        assert steps.time(chosen.path) * (1 - chosen.gap) == pytest.approx(prices.bound)


def test_where_few_rungs_fit_the_best_of_so_many_needs_no_search() -> None:
    steps = drawn_steps(random.Random(1), 600)
    alike = Resource([0.0, *(10 + node / 600 for node in range(600))], [0.0] * 601, 45.0)
    by_count = best_by_count(steps, most=8)

    assert best_within(steps, [alike]).gap > 0
    chosen = best_within(steps, [alike], by_count=by_count)
    assert (chosen.path, chosen.gap) == (by_count[4], 0)
