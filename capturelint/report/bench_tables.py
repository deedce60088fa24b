"""Tables of what others measured: two files of `bench`, results of a server, distinct shapes."""

from __future__ import annotations

from capturelint.measure.bench.saved import Compared
from capturelint.measure.bench.serving import Servers
from capturelint.measure.bench.shapes import Price, Shapes, price
from capturelint.measure.times import Costs
from capturelint.report.place import one_line
from capturelint.report.table import aligned

_COVERS = (1, 4, 16, 64)  # numbers of graphs that are told


def compared(both: Compared) -> str:
    """Return two files of `bench` side by side; below 1 the second is slower."""
    rows = [["size", "eager ms", "", "faster", "graph ms", "", "faster", "speedup", ""]]
    for size in both.sizes:
        eager, graph = both.before.sizes[size]
        eager_after, graph_after = both.after.sizes[size]
        row = [str(size), *_pair(eager, eager_after), *_pair(graph, graph_after)]
        rows.append([*row, f"{eager / graph:.2f}", f"{eager_after / graph_after:.2f}"])
    told = [
        one_line(f"{name}: {before or 'not told'} / {after or 'not told'}")
        for name, (before, after) in both.differing.items()
    ]
    lines = [f"{both.before.path} / {both.after.path}", "", *aligned(rows)]
    if told:
        lines += ["", "measured in other surroundings:", *told]
    lost = [one_line(f"note: {note}") for note in both.notes]
    return "\n".join([*lines, *(["", *lost] if lost else [])])


def served(found: Servers, *, eager: str, graph: str) -> str:
    """Return a server with graphs next to one without, median by load."""
    head = [
        "requests/s",
        "concurrency",
        "TPOT ms",
        "graph",
        "speedup",
        "ITL ms",
        "graph",
        "speedup",
    ]
    rows = [head]
    for one in found.pairs:
        load = [one.load.ramp or one.load.rate or "inf", one.load.concurrency or "any"]
        tpot = _sped(one.eager.tpot, one.graph.tpot)
        rows.append([*load, *tpot, *_sped(one.eager.itl, one.graph.itl)])
    lines = [f"{eager} / {graph}: medians, eager and graph", "", *aligned(rows)]
    notes = [one_line(f"note: {note}") for note in found.notes]
    return "\n".join([*lines, *(["", *notes] if notes else [])])


def shapes(found: Shapes, costs: Costs | None, *, source: str) -> str:
    """Return how many shapes there are and what a graph for each would cost."""
    count, rounded = len(found.counts), found.rounded()
    waste = 1 - found.elements / rounded.elements
    lines = [
        f"{source}: {found.steps:,} calls of {_shapes(count)}",
        f"a graph for each: {_price(price(found, costs), count)}",
        _rounded(rounded, waste, costs),
    ]
    covers = [
        f"{graphs} serve {100 * found.covered(graphs):.0f} %"
        for graphs in _COVERS
        if graphs < count
    ]
    if covers:
        lines.append(f"graphs for the most frequent shapes: {', '.join(covers)} of the calls")
    if costs is None:
        lines.append("note: `--times` of a bench run tells seconds and MiB")
    return "\n".join(lines)


def _rounded(rounded: Shapes, waste: float, costs: Costs | None) -> str:
    count = len(rounded.counts)
    return (
        f"each number rounded up to a power of two: {_shapes(count)}, {100 * waste:.0f} % of what is"
        f" computed is padding; {_price(price(rounded, costs), count)}"
    )


def _pair(before: float, after: float) -> list[str]:
    return [f"{before:.3g}", f"{after:.3g}", f"{before / after:.2f}x"]


def _sped(eager: float | None, graph: float | None) -> list[str]:
    told = ["?" if one is None else f"{one:.3g}" for one in (eager, graph)]
    return [*told, "?" if eager is None or graph is None else f"{eager / graph:.2f}"]


def _shapes(count: int) -> str:
    return f"{count:,} distinct shape{'' if count == 1 else 's'}"


def _price(told: Price, graphs: int) -> str:
    parts = [f"{graphs:,} graph{'' if graphs == 1 else 's'}"]
    if told.seconds is not None:
        parts.append(f"{told.seconds:.3g} s to capture")
    if told.mib is not None:
        parts.append(f"{told.mib:.3g} MiB")
    return ", ".join(parts)
