"""Steps by batch size as bars: of text, or as SVG."""

from __future__ import annotations

from html import escape

from capturelint.measure.bench.result import Bench, Way
from capturelint.report.place import one_line

_WIDTH = 50  # characters of the longest bar
_MARKS = {Way.EAGER: "#", Way.GRAPH: "=", Way.COMPILED: "%", Way.COMPILED_GRAPH: "+"}
_COLORS = {
    Way.EAGER: "#8c8c8c",
    Way.GRAPH: "#2b7a3d",
    Way.COMPILED: "#b8860b",
    Way.COMPILED_GRAPH: "#1f5fa8",
}
_BAR, _GAP, _LEFT, _LONGEST, _TOP = 16, 12, 170, 520, 46  # pixels
_LETTER = 8  # pixels of a wide one


def lines(bench: Bench) -> list[str]:
    """Return a bar for each size and way."""
    bars = _bars(bench)
    longest = max(ms for _, _, ms in bars)
    wide = max(len(_label(size, way)) for size, way, _ in bars)
    return [
        f"{_label(size, way):<{wide}}  {_MARKS[way] * max(1, round(_WIDTH * ms / longest))} {ms:.3g} ms"
        for size, way, ms in bars
    ]


def svg(bench: Bench) -> str:
    """Return the bars as an SVG image, for a page or a report."""
    bars = _bars(bench)
    longest = max(ms for _, _, ms in bars)
    parts, y, last = [], _TOP, None
    for size, way, ms in bars:
        y += _GAP if last not in (None, size) else 0
        last = size
        width = max(1.0, _LONGEST * ms / longest)
        middle = y + _BAR - 4
        parts += [
            f'<text x="{_LEFT - 8}" y="{middle}" text-anchor="end">{escape(_label(size, way))}</text>',
            f'<rect x="{_LEFT}" y="{y}" width="{width:.1f}" height="{_BAR - 2}" fill="{_COLORS[way]}"/>',
            f'<text x="{_LEFT + width + 6:.1f}" y="{middle}">{ms:.3g} ms</text>',
        ]
        y += _BAR
    told = [bench.environment.get("device", ""), f"torch {bench.environment.get('torch', '?')}"]
    title = one_line(f"{bench.case}: median step, {', '.join(told)}")
    wide = max(_LEFT + _LONGEST + 90, _LETTER * len(title) + 24)
    body = "\n".join([f'<text x="12" y="24" font-weight="bold">{escape(title)}</text>', *parts])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide}" height="{y + _GAP}"'
        f' font-family="sans-serif" font-size="12">\n<rect width="100%" height="100%" fill="white"/>\n'
        f"{body}\n</svg>"
    )


def _bars(bench: Bench) -> list[tuple[int, Way, float]]:
    return [
        (one.size, way, one.timings[way].step.p50)
        for one in bench.sizes
        for way in bench.ways
        if way in one.timings
    ]


def _label(size: int, way: Way) -> str:
    return f"{size} {way.value}"
