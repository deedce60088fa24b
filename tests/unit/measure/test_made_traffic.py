"""The shipped histograms are what their simulations make."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from capturelint.bundle import bundled
from capturelint.measure.traffic import Traffic, read_traffic
from tests.unit.measure.made_traffic import chat, offline


@pytest.mark.parametrize("make", [chat, offline])
def test_a_shipped_histogram_is_what_its_simulation_makes(make: Callable[[], Counter[int]]) -> None:
    counts = make()
    idle = counts.pop(0, 0)

    shipped = read_traffic(bundled("fixtures") / "traffic" / f"{make.__name__}.csv")

    assert shipped == Traffic(tuple(sorted(counts.items())), idle)
