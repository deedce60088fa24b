"""Read result files of vLLM's serving benchmark, one of an eager and one of a graph server.

`vllm bench serve --save-result` writes an object for each run; `--append-result` puts several into
one file, one after another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from capturelint.errors import CapturelintError, shown, shown_path
from capturelint.measure.given import text_in

# Time per output token, and between two tokens of a stream: ms, medians.
_FIGURES = ("median_tpot_ms", "median_itl_ms")


class BadServingError(CapturelintError):
    """A file is no result of vLLM's serving benchmark."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{shown_path(path)}: {problem}; give what `vllm bench serve --save-result` wrote"
        )


@dataclass(frozen=True, slots=True)
class Load:
    """Under what load a server ran. `rate`: requests a second, as the file says; `concurrency`: or ""."""

    rate: str
    concurrency: str

    @property
    def order(self) -> tuple[float, float]:
        """Return what loads are sorted by."""
        return float(self.rate or "inf"), float(self.concurrency or "inf")


@dataclass(frozen=True, slots=True)
class Served:
    """Medians under one load, ms: time per output token, and between tokens; None where not told."""

    tpot: float | None
    itl: float | None


@dataclass(frozen=True, slots=True)
class Pair:
    """The same load on both servers."""

    load: Load
    eager: Served
    graph: Served


def pairs(eager: Path, graph: Path) -> tuple[Pair, ...]:
    """Return the loads that both files have. Raises `BadServingError`."""
    first, second = _read(eager), _read(graph)
    common = sorted(first.keys() & second.keys(), key=lambda load: load.order)
    if not common:
        raise BadServingError(graph, f"no request rate and concurrency as in {shown_path(eager)}")
    return tuple(Pair(load, first[load], second[load]) for load in common)


def _read(path: Path) -> dict[Load, Served]:
    text = text_in(path, BadServingError)
    found: dict[Load, Served] = {}
    for run in _objects(path, text):
        served = Served(*(_figure(path, run, name) for name in _FIGURES))
        if served == Served(None, None):
            raise BadServingError(path, f"has neither {' nor '.join(_FIGURES)}")
        load = Load(_told(path, run, "request_rate"), _told(path, run, "max_concurrency"))
        if load in found:
            what = f"request rate {load.rate or 'inf'}, concurrency {load.concurrency or 'none'}"
            raise BadServingError(path, f"holds two runs with {what}")
        found[load] = served
    if not found:
        raise BadServingError(path, "holds no run")
    return found


def _objects(path: Path, text: str) -> Iterator[Mapping[str, object]]:
    decoder, place = json.JSONDecoder(), 0
    while place < len(text):
        if text[place].isspace() or text[place] == ",":
            place += 1
            continue
        try:
            value, place = decoder.raw_decode(text, place)
        except json.JSONDecodeError as error:
            raise BadServingError(path, f"line {error.lineno} is not JSON: {error.msg}") from error
        except RecursionError as error:
            raise BadServingError(path, "is nested too deeply") from error
        for one in value if isinstance(value, list) else [value]:
            if not isinstance(one, dict):
                raise BadServingError(path, f"holds {shown(one)}, not an object")
            yield one


def _figure(path: Path, run: Mapping[str, object], name: str) -> float | None:
    value = run.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e15:
        raise BadServingError(path, f"`{name}` is {shown(value)}, not a number of ms")
    return float(value)


def _told(path: Path, run: Mapping[str, object], name: str) -> str:
    value = run.get(name)
    if value is None:
        return ""
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        number = None
    if number is None or math.isnan(number) or isinstance(value, bool):
        raise BadServingError(path, f"`{name}` is {shown(value)}, not a number")
    return f"{number:g}"
