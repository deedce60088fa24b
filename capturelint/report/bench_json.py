"""What `bench` found as JSON, which `ladder --times` and `bench --compare` read."""

from __future__ import annotations

from capturelint.measure.bench.advice import advice
from capturelint.measure.bench.result import Bench, Size, Timing, Way
from capturelint.measure.bench.samples import Spread, percentile
from capturelint.report.json import dumped

_VERSION = 1


def render(bench: Bench) -> str:
    """Return the result as one line of ASCII, keys in a fixed order.

    `sizes` holds those whose graphs are right, as `capturelint.measure.times` says, with more beside;
    `left_out` the others. Times are ms, memory MiB, shares from 0 to 1.
    """
    return dumped(
        {
            "version": _VERSION,
            "case": bench.case,
            "environment": bench.environment,
            "eager_modules": list(bench.eager),
            "sizes": [_size(bench, one) for one in bench.sizes if _is_right(one)],
            "left_out": [_left_out(bench, one) for one in bench.sizes if not _is_right(one)],
            "whole": None
            if bench.whole is None
            else {
                "predicted_from": list(bench.whole.known),
                "predicted_mib": bench.whole.predicted_mib,
                "free_mib": bench.whole.free_mib,
                "pool_mib": bench.whole.pool_mib,
            },
            "notes": list(bench.notes),
        }
    )


def _is_right(one: Size) -> bool:
    return Way.GRAPH in one.timings and Way.GRAPH not in one.wrong


def _size(bench: Bench, one: Size) -> dict[str, object]:
    cost = one.cost
    told = advice(one, in_pieces=bool(bench.eager))
    return {
        "size": one.size,
        "eager_ms": one.timings[Way.EAGER].step.p50,
        "graph_ms": one.timings[Way.GRAPH].step.p50,
        "capture_ms": None if cost is None else cost.capture_ms,
        "mib": None if cost is None else cost.own_mib,
        "pool_mib": None if cost is None else cost.pool_mib,
        "free_mib": None if cost is None else cost.free_mib,
        "copy_in_ms": one.copy_in_ms,
        "choice": told.choice.value,
        "why": told.why,
        **_ways(one),
    }


def _left_out(bench: Bench, one: Size) -> dict[str, object]:
    told = advice(one, in_pieces=bool(bench.eager))
    return {"size": one.size, "choice": told.choice.value, "why": told.why, **_ways(one)}


def _ways(one: Size) -> dict[str, object]:
    timed = {way.value: _way(one, way, timing) for way, timing in one.timings.items()}
    return {"ways": timed, "wrong": {way.value: why for way, why in one.wrong.items()}}


def _way(one: Size, way: Way, timing: Timing) -> dict[str, object]:
    activity = timing.activity
    gain = one.speedup(way)
    return {
        "step_ms": _spread(timing.step),
        "issue_ms": _median(timing.issue),
        "speedup": None if gain is None else _spread(gain),
        "kernels": None if activity is None else activity.kernels,
        "launches": None if activity is None else activity.launches,
        "busy_ms": None if activity is None else activity.busy_ms,
        "launch_bound": timing.launch_bound,
        "replay": "equal" if way.is_graph else None,
    }


def _spread(found: Spread) -> dict[str, float]:
    return {"p10": found.p10, "p50": found.p50, "p90": found.p90}


def _median(samples: tuple[float, ...]) -> float:
    return percentile(samples, 0.5)
