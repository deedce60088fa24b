"""What `bench` found, as text for people: tables of steps, of work and of cost, a chart, and advice."""

from __future__ import annotations

from capturelint.measure.bench.advice import advice
from capturelint.measure.bench.padding import Waste, wastes
from capturelint.measure.bench.result import UNDECIDED, Bench, Size, Way
from capturelint.measure.bench.samples import Spread, percentile
from capturelint.report import bench_chart
from capturelint.report.place import one_line
from capturelint.report.style import Style
from capturelint.report.table import aligned

_LEFT = ("way",)
_NAMED = ("device", "torch", "driver", "dtype", "expandable segments", "date")


def render(bench: Bench, *, color: bool = False) -> str:
    """Return the result as text."""
    style = Style(color)
    parts = [
        [style.strong(one_line(f"{bench.case}: {_where(bench)}")), *_eager(bench)],
        [*_steps(bench), *_replays(bench)],
        bench_chart.lines(bench),
        _costs(bench),
        _padding(bench),
        _advice(bench, style),
        _whole(bench),
        [f"note: {note}" for note in bench.notes],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _where(bench: Bench) -> str:
    found = bench.environment
    return ", ".join(
        found[name] if name in ("device", "date") else f"{name} {found[name]}"
        for name in _NAMED
        if name in found
    )


def _eager(bench: Bench) -> list[str]:
    if not bench.eager:
        return []
    return [f"graphs are pieces around the modules {', '.join(bench.eager)}, which run eagerly"]


def _steps(bench: Bench) -> list[str]:
    """Return a line for each size and way: what a step takes, and what runs in it."""
    head = ["size", "way", "step ms", "(p10-p90)", "speedup", "(p10-p90)", "issue ms"]
    rows = [[*head, "busy ms", "waiting", "kernels", "launches"]]
    for one in bench.sizes:
        for way in bench.ways:
            rows.append(_step(one, way))
    return aligned(rows, left=_LEFT)


def _replays(bench: Bench) -> list[str]:
    """Return a line for each way that runs graphs: at which sizes its replays are as eager."""
    lines = []
    for way in bench.ways:
        judged = {one.size: _judged(one, way) for one in bench.sizes if way.is_graph}
        told = [
            f"{word} at {', '.join(str(size) for size, found in judged.items() if found == word)}"
            for word in dict.fromkeys(judged.values())
        ]
        if told:
            compared = f"{way.value}, replays compared with {way.without.value}"
            lines.append(f"{compared}: {'; '.join(told)}")
    return lines


def _judged(one: Size, way: Way) -> str:
    why = one.wrong.get(way)
    if why is None:
        return "equal"
    return UNDECIDED if why.startswith(UNDECIDED) else "wrong"


def _step(one: Size, way: Way) -> list[str]:
    timing = one.timings.get(way)
    if timing is None:
        return [str(one.size), way.value, _judged(one, way)]
    gain = None if way is Way.EAGER else one.speedup(way)
    row = [str(one.size), way.value, *_spread(timing.step, "{:.3g}")]
    row += ["", ""] if gain is None else _spread(gain, "{:.2f}")
    row.append(_figure(percentile(timing.issue, 0.5)))
    seen, bound = timing.activity, timing.launch_bound
    if seen is None or bound is None:
        return [*row, *["?"] * 4]
    return [
        *row,
        _figure(seen.busy_ms),
        f"{100 * bound:.0f} %",
        str(seen.kernels),
        str(seen.launches),
    ]


def _spread(found: Spread, form: str) -> list[str]:
    return [form.format(found.p50), f"({form.format(found.p10)}-{form.format(found.p90)})"]


def _costs(bench: Bench) -> list[str]:
    """Return a line for each size: what its graph takes, captured alone."""
    known = [one for one in bench.sizes if one.cost is not None]
    if not known:
        return []
    rows = [["size", "capture ms", "MiB less free", "MiB of pool", "copy-in ms"]]
    for one in known:
        assert one.cost is not None
        figures = (one.cost.capture_ms, one.cost.free_mib, one.cost.pool_mib)
        copy_in = "" if one.copy_in_ms is None else _figure(one.copy_in_ms)
        rows.append([str(one.size), *map(_figure, figures), copy_in])
    return ["each graph alone, warm-up included:", *aligned(rows)]


def _padding(bench: Bench) -> list[str]:
    times = {
        one.size: one.timings[Way.GRAPH].step.p50
        for one in bench.sizes
        if one.speedup(Way.GRAPH) is not None
    }
    found = [one for one in wastes(times) if one.low < one.high]
    return ["rounding up:", *map(_waste, found)] if found else []


def _waste(one: Waste) -> str:
    rows = f"{one.low} to {one.high} rows run at {one.high}"
    pads = f"{100 * one.mean:.0f} % pad rows on average, {100 * one.most:.0f} % at {one.low}"
    if one.extra_ms is None:
        return f"  {rows}: {pads}"
    return f"  {rows}: {pads}, {one.extra_ms:+.3g} ms over a step of {one.low - 1}"


def _advice(bench: Bench, style: Style) -> list[str]:
    lines = []
    for one in bench.sizes:
        told = advice(one, in_pieces=bool(bench.eager))
        lines.append(f"{one.size}: {style.strong(told.choice.value)}: {told.why}")
        others = {way: why for way, why in one.wrong.items() if way is not Way.GRAPH}
        lines += [f"{one.size}: {way.value} is wrong: {why}" for way, why in others.items()]
    return lines


def _whole(bench: Bench) -> list[str]:
    whole = bench.whole
    if whole is None:
        return []
    known = ", ".join(map(str, whole.known))
    off = ""
    if whole.free_mib > 0:
        off = f", {100 * (whole.predicted_mib / whole.free_mib - 1):+.0f} %"
    taken = f"{_figure(whole.free_mib)} MiB less free, {_figure(whole.pool_mib)} MiB of pool"
    guess = f"{_figure(whole.predicted_mib)} MiB predicted from {known}"
    return [f"all graphs in one pool: {guess}; measured {taken}{off}"]


def _figure(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
