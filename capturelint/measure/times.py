"""What a step costs by batch size: read from what `bench` measured, or assumed.

The file is JSON, what is in brackets may be left out or null; where two sizes have such a figure, it
is predicted for the others:

    {"version": 1,
     "environment": {"device": "...", ...},        text by name; what was measured, where
     "sizes": [{"size": 8,                         rows of the step, each size once
                "eager_ms": 4.1,                   of an eager step, median (p50)
                "graph_ms": 1.9,                   of a replay with its copies in and out, median (p50)
                ["capture_ms": 52.0,]              warm-up and capture of this size's graph
                ["mib": 3.5,]                      device memory of this graph besides the pool
                ["pool_mib": 40.0]}]}              scratch memory that all graphs of one pool share

vLLM and SGLang capture from the largest size down into one pool, so that the pool of the largest
graph serves all: a ladder holds the `mib` of each of its sizes and the `pool_mib` of the largest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capturelint.errors import CapturelintError, shown, shown_path
from capturelint.measure.curves import Curve, curve_of
from capturelint.measure.given import text_in

_VERSION = 1
_TIMES = ("eager_ms", "graph_ms")
_FIGURES = (*_TIMES, "capture_ms", "mib", "pool_mib")
_TO_PREDICT = 2  # sizes that have a figure, to tell it for others
_LARGEST = 2**31 - 1  # rows
_EXAMPLE = '[{"size": 1, "eager_ms": 4.0, "graph_ms": 1.5}, ...]'
_MOST = 1e15  # ms or MiB; nothing that was measured is more


class BadTimesError(CapturelintError):
    """A file of times cannot be read or is not what `bench` writes."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{shown_path(path)}: {problem}")


@dataclass(frozen=True, slots=True)
class Costs:
    """What a step costs by its rows, and what capturing a size costs.

    `eager`, `graph`: ms if `is_measured`, else in units of the time of a graph with few rows.
    `capture`: ms; `memory`, `pool`: MiB; None where it is not known. `largest`: the largest size that
    was measured, above which figures are extended. `levelled`: (figure, sizes) of those that were
    averaged because a larger batch was measured as cheaper. `predicted`: (figure, sizes) of those that
    lack it where two others have it.
    """

    eager: Curve
    graph: Curve
    capture: Curve | None = None
    memory: Curve | None = None
    pool: Curve | None = None
    is_measured: bool = True
    largest: int | None = None
    environment: tuple[tuple[str, str], ...] = ()
    levelled: tuple[tuple[str, tuple[int, ...]], ...] = ()
    predicted: tuple[tuple[str, tuple[int, ...]], ...] = ()

    @property
    def unit(self) -> str:
        """Return the unit of times."""
        return "ms" if self.is_measured else "relative"


# Of the assumed costs: reading the weights takes 1; each row adds 1/256; launching takes 3 in all.
_ROWS_TO_DOUBLE = 256
_LAUNCH = 3.0


def assumed_costs() -> Costs:
    """Return costs that nobody measured: a replay takes 1 + rows/256, an eager step at least 3.

    The form is that of decoding: the weights are read whatever the batch, each row adds its part, and
    below a size an eager step takes as long as the host needs to launch its kernels. The numbers are
    round ones. What capturing costs is not assumed.
    """
    crossing = int((_LAUNCH - 1) * _ROWS_TO_DOUBLE)
    ends = (0, _ROWS_TO_DOUBLE)
    return Costs(
        eager=Curve((crossing, 2 * crossing), (_LAUNCH, 2 * _LAUNCH - 1)),
        graph=Curve(ends, (1.0, 2.0)),
        is_measured=False,
    )


def read_costs(path: Path) -> Costs:
    """Return the costs in a file of `bench`, each made monotone. Raises `BadTimesError`."""
    document = document_of(path)
    rows = rows_of(path, document.get("sizes"))
    sizes = tuple(sorted(rows))
    curves: dict[str, Curve | None] = {}
    raised: list[tuple[str, tuple[int, ...]]] = []
    predicted: list[tuple[str, tuple[int, ...]]] = []
    for figure in _FIGURES:
        values = {size: rows[size][figure] for size in sizes}
        known = {size: value for size, value in values.items() if value is not None}
        if len(known) < min(len(sizes), _TO_PREDICT):
            curves[figure] = None
            continue
        curve = curves[figure] = curve_of(known)
        moved = tuple(
            size
            for size, level in zip(curve.sizes, curve.values, strict=True)
            if known[size] != level
        )
        raised += [(figure, moved)] if moved else []
        lacking = tuple(size for size in sizes if size not in known)
        predicted += [(figure, lacking)] if lacking else []
    eager, graph = curves["eager_ms"], curves["graph_ms"]
    assert eager is not None and graph is not None  # `rows_of` wants both
    return Costs(
        eager=eager,
        graph=graph,
        capture=curves["capture_ms"],
        memory=curves["mib"],
        pool=curves["pool_mib"],
        largest=sizes[-1],
        environment=_environment(path, document.get("environment", {})),
        levelled=tuple(raised),
        predicted=tuple(predicted),
    )


def document_of(path: Path) -> Mapping[str, object]:
    """Return the object that a file of `bench` holds. Raises `BadTimesError`."""
    try:
        document: object = json.loads(text_in(path, BadTimesError))
    except json.JSONDecodeError as error:
        problem = f"line {error.lineno} is not JSON: {error.msg}"
        raise BadTimesError(path, problem) from error
    except RecursionError as error:
        raise BadTimesError(path, "is nested too deeply to be a file of `bench`") from error
    if not isinstance(document, dict) or "sizes" not in document:
        raise BadTimesError(
            path, f"is not a file of `bench`: it has no `sizes`, such as {_EXAMPLE}"
        )
    version = document.get("version")
    if version != _VERSION or isinstance(version, bool):
        raise BadTimesError(path, f"`version` is {shown(version)}; this release reads {_VERSION}")
    return document


def rows_of(path: Path, entries: object, *, least: int = 2) -> dict[int, dict[str, float | None]]:
    """Return the figures by size, of `least` sizes or more. Raises `BadTimesError`."""
    if not isinstance(entries, list):
        raise BadTimesError(path, "`sizes` is not a list")
    rows: dict[int, dict[str, float | None]] = {}
    for index, entry in enumerate(entries):
        where = f"sizes[{index}]"
        if not isinstance(entry, dict):
            raise BadTimesError(path, f"`{where}` is {shown(entry)}, not an object")
        size = entry.get("size")
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= _LARGEST:
            problem = f"`{where}.size` is {shown(size)}; it must be a whole number, 1 or more"
            raise BadTimesError(path, problem)
        if size in rows:
            raise BadTimesError(path, f"`{where}.size` is {size}, which is there before")
        rows[size] = {
            name: _figure(path, f"{where}.{name}", entry.get(name), is_needed=name in _TIMES)
            for name in _FIGURES
        }
    if len(rows) < least:
        words = "two sizes or more, to tell how costs grow" if least > 1 else "a size"
        raise BadTimesError(path, f"`sizes` must hold {words}")
    return rows


def _figure(path: Path, where: str, value: object, *, is_needed: bool) -> float | None:
    if value is None and not is_needed:
        return None
    number = None if isinstance(value, bool) or not isinstance(value, int | float) else value
    # An integer may be too long for a float; comparing it is safe.
    if number is None or not 0 <= number <= _MOST or (is_needed and not number):
        allowed = "more than 0" if is_needed else "0 or more"
        raise BadTimesError(path, f"`{where}` is {shown(value)}; it must be a number, {allowed}")
    return float(number)


def _environment(path: Path, value: object) -> tuple[tuple[str, str], ...]:
    if not isinstance(value, dict):
        raise BadTimesError(path, f"`environment` is {shown(value)}, not an object")
    return tuple((str(name), str(text)) for name, text in value.items())
