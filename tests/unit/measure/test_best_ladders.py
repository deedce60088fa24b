"""The best ladders are those that trying every ladder finds, and limits only cost time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from capturelint.measure.advice import NothingToCaptureError, advise
from capturelint.measure.by_count import best_by_count
from capturelint.measure.ladder import Ladder, Limits
from tests.unit.measure.instances import Instance, instances, limits


def best(instance: Instance, limits: Limits) -> Ladder | None:
    """Return the ladder that is recommended, which must be proven best; None where no step fits."""
    try:
        advice = advise(
            instance.traffic,
            instance.costs,
            largest=instance.largest,
            rows_per_request=instance.rows_per_request,
            limits=limits,
        )
    except NothingToCaptureError:
        return None
    assert advice.gap == 0
    return advice.best


@settings(deadline=None)
@given(instances(), limits)
def test_within_limits_no_ladder_is_faster(instance: Instance, limits: Limits) -> None:
    found = best(instance, limits)
    if found is None or limits == Limits():
        return

    assert found.step == pytest.approx(instance.fastest(limits), rel=1e-9)
    assert limits.allow(found)
    assert all(size % instance.rows_per_request == 0 for size in found.sizes)


@settings(deadline=None)
@given(instances())
def test_of_each_number_of_graphs_no_ladder_is_faster(instance: Instance) -> None:
    steps = instance.steps
    paths = best_by_count(steps, most=4)

    for count in range(5):
        path = paths[min(count, len(paths) - 1)]
        found = instance.ladder(steps.ladder(path))
        assert len(found.sizes) <= count
        assert found.step == pytest.approx(instance.fastest(Limits(rungs=count)), rel=1e-9)


@settings(deadline=None)
@given(instances(), limits, st.integers(1, 5), st.integers(1, 5), st.integers(1, 5))
def test_more_of_anything_is_never_slower(
    instance: Instance, limits: Limits, rungs: int, startup: int, memory: int
) -> None:
    tight = best(instance, limits)
    if tight is None or limits == Limits():
        return
    loose = best(
        instance,
        Limits(
            None if limits.rungs is None else limits.rungs * rungs,
            None if limits.startup is None else limits.startup * startup,
            None if limits.memory is None else limits.memory * memory,
        ),
    )

    assert loose is not None
    assert loose.step <= tight.step * (1 + 1e-9)


@settings(deadline=None)
@given(instances())
def test_no_rung_of_a_best_ladder_is_needless(instance: Instance) -> None:
    found = best(instance, Limits(startup=0.05))
    if found is None:
        return

    for size in found.sizes:
        rest = instance.ladder([one for one in found.sizes if one != size])
        assert rest.step > found.step
