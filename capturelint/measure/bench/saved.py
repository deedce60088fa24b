"""Read files that `bench` wrote, and set two of them side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capturelint.errors import CapturelintError, shown_path
from capturelint.measure.times import document_of, rows_of


class NothingInCommonError(CapturelintError):
    """Two files of `bench` share no size."""

    def __init__(self, first: Path, second: Path) -> None:
        super().__init__(
            f"{shown_path(first)} and {shown_path(second)} have no size in common; measure both with"
            " the same --batch-sizes"
        )


@dataclass(frozen=True, slots=True)
class Saved:
    """A file of `bench`. `sizes`: (eager ms, graph ms) by size, medians."""

    path: str
    sizes: Mapping[int, tuple[float, float]]
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """Two files: `sizes` that both have, and what of their environments differs, by name."""

    before: Saved
    after: Saved
    sizes: tuple[int, ...]
    differing: Mapping[str, tuple[str, str]]


def read_saved(path: Path) -> Saved:
    """Return what a file says. Raises `BadTimesError`."""
    document = document_of(path)
    rows = rows_of(path, document.get("sizes"), least=1)
    told = document.get("environment")
    environment = told if isinstance(told, dict) else {}
    sizes = {
        size: (row["eager_ms"] or 0.0, row["graph_ms"] or 0.0) for size, row in sorted(rows.items())
    }
    return Saved(
        shown_path(path), sizes, {str(name): str(text) for name, text in environment.items()}
    )


def compared(before: Path, after: Path) -> Compared:
    """Return two files side by side. Raises `BadTimesError` or `NothingInCommonError`."""
    first, second = read_saved(before), read_saved(after)
    sizes = tuple(sorted(first.sizes.keys() & second.sizes.keys()))
    if not sizes:
        raise NothingInCommonError(before, after)
    names = [*first.environment, *(n for n in second.environment if n not in first.environment)]
    pairs = {n: (first.environment.get(n, ""), second.environment.get(n, "")) for n in names}
    differing = {n: pair for n, pair in pairs.items() if pair[0] != pair[1] and n != "date"}
    return Compared(first, second, sizes, differing)
