"""What `bench` found as CSV: a line for each size and way, empty where nothing is known."""

from __future__ import annotations

import csv
import io

from capturelint.measure.bench.result import Bench, Size, Way
from capturelint.measure.bench.samples import percentile

_HEAD = (
    *("size", "way", "p10_ms", "p50_ms", "p90_ms", "speedup_p10", "speedup_p50", "speedup_p90"),
    *("issue_ms", "kernels", "launches", "busy_ms", "launch_bound", "wrong"),
)


def render(bench: Bench) -> str:
    """Return the lines, without an end of line after the last."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_HEAD)
    writer.writerows(_row(one, way) for one in bench.sizes for way in bench.ways)
    return text.getvalue().rstrip("\n")


def _row(one: Size, way: Way) -> list[object]:
    timing = one.timings.get(way)
    if timing is None:
        return [one.size, way.value, *[""] * 11, one.wrong.get(way, "")]
    step, gain, activity = timing.step, one.speedup(way), timing.activity
    gains = ["", "", ""] if gain is None else [gain.p10, gain.p50, gain.p90]
    seen = (
        ["", "", ""]
        if activity is None
        else [activity.kernels, activity.launches, activity.busy_ms]
    )
    bound = timing.launch_bound
    told = [step.p10, step.p50, step.p90, *gains, percentile(timing.issue, 0.5), *seen]
    return [one.size, way.value, *told, "" if bound is None else bound, one.wrong.get(way, "")]
