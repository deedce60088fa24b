"""How findings of `check` stand after a run: for people, and as objects of JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from capturelint.errors import shown_path
from capturelint.report.excerpt import printable
from capturelint.report.json import place
from capturelint.report.outline import Line, Piece, Tone, line
from capturelint.report.standing.stand import Stand, Standing
from capturelint.report.text import counted
from capturelint.verdict import ROOT

_TONES = {
    Standing.PROVED: Tone.BAD,
    Standing.REFUTED: Tone.GOOD,
    Standing.NOT_REACHED: Tone.DIM,
    Standing.UNTOLD: Tone.LOUD,
}


def standing_lines(stands: Sequence[Stand]) -> list[Line]:
    """Return counts, and below them a line for each finding, those proved first."""
    if not stands:
        return []
    numbers = Counter(one.standing for one in stands)
    counts = ", ".join(f"{numbers[one]} {one.value}" for one in Standing if numbers[one])
    order = list(Standing)
    told = sorted(stands, key=lambda one: order.index(one.standing))
    return [line(f"of {counted(len(stands), 'finding')}: {counts}", below=list(map(_line, told)))]


def concise(stand: Stand) -> str:
    """Return how one finding stands, in a line that begins with its place."""
    finding = stand.finding
    where = f"{printable(finding.path)}:{finding.span.line}:{finding.span.column + 1}"
    return f"{where}: {finding.code} {stand.standing.value}: {printable(stand.why)}"


def document(stand: Stand) -> dict[str, object]:
    """Return how one finding stands as an object of JSON."""
    finding = stand.finding
    return {
        "code": finding.code,
        "name": finding.name,
        "path": shown_path(finding.path),
        **place(finding.span),
        "function": finding.function,
        "standing": stand.standing.value,
        "why": stand.why,
        "calls": stand.calls,
        "modules": [path or ROOT for path in stand.modules],
    }


def _line(stand: Stand) -> Line:
    finding = stand.finding
    where = f"{printable(finding.path)}:{finding.span.line}:{finding.span.column + 1}"
    return line(
        Piece(where, Tone.STRONG),
        f": {finding.code} {printable(finding.name)}: ",
        Piece(stand.standing.value, _TONES[stand.standing]),
        f": {printable(stand.why)}",
    )
