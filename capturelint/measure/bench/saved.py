"""Read files that `bench` wrote, and set two of them side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from capturelint.errors import CapturelintError, shown_path
from capturelint.measure.times import BadTimesError, document_of, rows_of

_WAYS = ("eager", "graph")


class NothingInCommonError(CapturelintError):
    """Two files of `bench` share no size."""

    def __init__(self, first: Path, second: Path) -> None:
        super().__init__(
            f"{shown_path(first)} and {shown_path(second)} have no size in common; measure both with"
            " the same --batch-sizes"
        )


@dataclass(frozen=True, slots=True)
class Saved:
    """A file of `bench`. `sizes`: (eager ms, graph ms) by size, medians. `left_out`: why others are.

    `environment`: by name, with the case and what ran eagerly between pieces. `spreads`: by size and
    way, `eager` or `graph`, the 10th and 90th percentile of a step, ms, as far as the file has them.
    """

    path: str
    sizes: Mapping[int, tuple[float, float]]
    environment: Mapping[str, str]
    left_out: Mapping[int, str] = field(default_factory=dict)
    spreads: Mapping[tuple[int, str], tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compared:
    """Two files: `sizes` that both have, and what of their environments differs, by name.

    `notes`: what is not in the table.
    """

    before: Saved
    after: Saved
    sizes: tuple[int, ...]
    differing: Mapping[str, tuple[str, str]]
    notes: tuple[str, ...] = ()


def read_saved(path: Path) -> Saved:
    """Return what a file says. Raises `BadTimesError`."""
    document = document_of(path)
    left_out = _left_out(document.get("left_out"))
    if left_out and document["sizes"] == []:
        why = next(iter(left_out.values()))
        raise BadTimesError(path, f"has no graph that is right: {why}")
    rows = rows_of(path, document.get("sizes"), least=1)
    sizes = {
        size: (row["eager_ms"] or 0.0, row["graph_ms"] or 0.0) for size, row in sorted(rows.items())
    }
    spreads = dict(_spreads(document["sizes"]))
    return Saved(shown_path(path), sizes, _environment(document), left_out, spreads)


def _spreads(entries: Any) -> Iterator[tuple[tuple[int, str], tuple[float, float]]]:
    """Yield the percentiles that a list of sizes, which `rows_of` has checked, tells besides."""
    for entry in entries:
        for way in _WAYS:
            try:
                told = entry["ways"][way]["step_ms"]
                yield (entry["size"], way), (float(told["p10"]), float(told["p90"]))
            except (KeyError, TypeError, ValueError):
                continue  # written by hand: nothing is said of them


def _environment(document: Mapping[str, object]) -> dict[str, str]:
    told = document.get("environment")
    found = {str(name): str(text) for name, text in told.items()} if isinstance(told, dict) else {}
    case, eager = document.get("case"), document.get("eager_modules")
    if isinstance(case, str):
        found["case"] = case
    if isinstance(eager, list) and eager:
        found["eager modules"] = ", ".join(map(str, eager))
    return found


def _left_out(entries: object) -> dict[int, str]:
    return {
        entry["size"]: str(entry.get("why", "no graph was measured"))
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("size"), int)
    }


def compared(before: Path, after: Path) -> Compared:
    """Return two files side by side. Raises `BadTimesError` or `NothingInCommonError`."""
    first, second = read_saved(before), read_saved(after)
    sizes = tuple(sorted(first.sizes.keys() & second.sizes.keys()))
    if not sizes:
        raise NothingInCommonError(before, after)
    names = [*first.environment, *(n for n in second.environment if n not in first.environment)]
    pairs = {n: (first.environment.get(n, ""), second.environment.get(n, "")) for n in names}
    differing = {n: pair for n, pair in pairs.items() if pair[0] != pair[1] and n != "date"}
    notes = (*_unsure(first, second, sizes), *_alone(first, second), *_alone(second, first))
    return Compared(first, second, sizes, differing, notes)


def _unsure(one: Saved, other: Saved, sizes: Sequence[int]) -> Iterator[str]:
    """Yield of which steps the two differ by less than steps vary by."""
    for way in _WAYS:
        close = [
            str(size)
            for size in sizes
            for first, second in [(one.spreads.get((size, way)), other.spreads.get((size, way)))]
            if first and second and first[0] <= second[1] and second[0] <= first[1]
        ]
        if close:
            yield f"{way} steps at {', '.join(close)} differ by no more than they vary (p10 to p90)"


def _alone(one: Saved, other: Saved) -> Iterator[str]:
    """Yield what to say of sizes of which `one` has a graph and `other` has none, or a wrong one."""
    for size in sorted(one.sizes.keys() - other.sizes.keys()):
        if size in other.left_out:
            yield f"{size}: {other.path} has no graph that is right: {other.left_out[size]}"
        else:
            yield f"{size}: only in {one.path}"
