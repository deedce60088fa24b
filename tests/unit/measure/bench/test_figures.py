"""Statistics, advice, padding and memory from plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capturelint.measure.bench.activity import activity_of
from capturelint.measure.bench.advice import Choice, advice
from capturelint.measure.bench.padding import Waste, wastes
from capturelint.measure.bench.result import Activity, Size, Way
from capturelint.measure.bench.samples import Spread, speedup, spread
from capturelint.measure.memory import Alone, chosen, predicted, segments
from tests.unit.measure.bench.made import bench, size, timing


def test_percentiles_are_linear_between_samples() -> None:
    assert spread([3, 1, 2]) == Spread(1.2, 2, 2.8)
    assert spread([5]) == Spread(5, 5, 5)


@given(st.lists(st.floats(0.1, 1e6), min_size=1))
def test_percentiles_ascend_and_lie_within_the_samples(samples: list[float]) -> None:
    found = spread(samples)

    assert min(samples) <= found.p10 <= found.p50 <= found.p90 <= max(samples)


def test_a_drift_that_both_of_a_pair_have_cancels() -> None:
    before, after = [10.0, 20.0, 40.0], [5.0, 10.0, 20.0]

    assert speedup(before, after) == Spread(2, 2, 2)


def test_the_share_that_the_gpu_waits_is_never_negative() -> None:
    assert timing(4.0, busy=1.0).launch_bound == 0.75
    assert timing(4.0, busy=5.0).launch_bound == 0
    assert timing(4.0, busy=None).launch_bound is None


@pytest.mark.parametrize(
    ("one", "in_pieces", "choice", "why"),
    [
        (size(1, 8, 2), False, Choice.GRAPH, "4.00 times as fast; the GPU waits 88 % of an eager"),
        (size(1, 8, 2), True, Choice.PIECES, "4.00 times as fast"),
        (size(1, 2, 2), False, Choice.EAGER, "a step is 1.00 times as fast; the GPU works 48 %"),
        (size(1, 8, 2, wrong="stale-on-replay"), False, Choice.EAGER, "stale-on-replay"),
    ],
)
def test_advice_says_why(one: Size, in_pieces: bool, choice: Choice, why: str) -> None:
    told = advice(one, in_pieces=in_pieces)

    assert told.choice is choice
    assert told.why.startswith(why)


def test_advice_tells_what_the_compiler_gains() -> None:
    ways = {way: timing(8.0 / gain) for way, gain in zip(Way, (1, 4, 2, 5), strict=True)}
    told = advice(Size(1, ways, {}), in_pieces=False)

    assert told.why.endswith("; compiled 2.00; compiled graph 5.00")


def test_a_gain_within_the_spread_is_no_gain() -> None:
    steps = {Way.EAGER: timing(1.0, 2.0, 3.0), Way.GRAPH: timing(1.8, 1.0, 1.5)}
    told = advice(Size(1, steps, {}), in_pieces=False)

    assert told.choice is Choice.EAGER
    assert "steps vary by more" in told.why


def test_a_wrong_replay_has_no_speedup() -> None:
    both = {Way.EAGER: timing(8.0), Way.GRAPH: timing(1.0)}

    assert Size(1, both, {Way.GRAPH: "stale"}).speedup(Way.GRAPH) is None
    assert Size(1, both, {}).speedup(Way.GRAPH) == Spread(8, 8, 8)


def test_the_exit_code_tells_wrong_from_undecided() -> None:
    right, wrong = size(1, 8, 2), size(4, 9, 3, wrong="stale-on-replay")
    unknown = size(8, 9, 3, wrong="undecided: it hangs")

    assert bench(right).exit_code == 0
    assert bench(right, unknown).exit_code == 4
    assert bench(right, unknown, wrong).exit_code == 1


def test_rounding_up_wastes_most_just_above_the_rung_below() -> None:
    assert wastes({1: 2.0, 4: 5.0}) == (
        Waste(1, 1, 0.0, 0.0, None),
        Waste(2, 4, 0.5, 0.25, 3.0),
    )


def test_the_largest_graph_decides_what_a_pool_takes() -> None:
    known = {1: Alone(2.0, 10.0), 8: Alone(2.0, 80.0)}

    assert predicted(known, [1, 2, 4, 8]) == 4 * 2 + 80
    assert predicted(known, [1, 2]) == 2 * 2 + 20
    assert predicted({4: Alone(1.0, 5.0)}, [1, 2, 4]) == 3 + 5


def test_the_ends_and_the_middle_are_measured() -> None:
    assert chosen([4]) == (4,)
    assert chosen([1, 4]) == (1, 4)
    assert chosen([1, 2, 4, 8, 16]) == (1, 4, 16)


def test_expandable_segments_are_told_apart() -> None:
    assert segments("native") == "off"
    assert segments("native, expandable_segments:True") == "on"
    assert segments("native, max_split_size_mb:64, expandable_segments: False") == "off"


@dataclass
class Range:
    start: float
    end: float


def event(name: str, device: str, start: float = 0, end: float = 0, **more: object) -> object:
    kind = SimpleNamespace(name=device)
    return SimpleNamespace(name=name, device_type=kind, time_range=Range(start, end), **more)


def test_kernels_that_overlap_keep_the_gpu_busy_once() -> None:
    events = [
        event("aten::add", "CPU"),
        event("cudaLaunchKernel", "CPU"),
        event("cuLaunchKernelEx", "CPU"),
        event("cudaMemcpyAsync", "CPU"),
        event("cudaDeviceSynchronize", "CPU"),
        event("kernel", "CUDA", 1000, 3000),
        event("kernel", "CUDA", 2000, 4000),
        event("Memcpy DtoD", "CUDA", 5000, 6000),
        event("step", "CUDA", 0, 9000, is_user_annotation=True),
    ]

    assert activity_of(events) == Activity(kernels=2, launches=3, busy_ms=4.0)
    assert activity_of(events[:3]) is None
