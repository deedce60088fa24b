"""Read result files of vLLM's serving benchmark, one of an eager and one of a graph server.

`vllm bench serve --save-result` writes an object for each run; `--append-result` puts several into
one file, one after another.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from capturelint.errors import CapturelintError, shown, shown_path
from capturelint.measure.given import text_in

# Time per output token, and between two tokens of a stream: ms, medians.
_FIGURES = ("median_tpot_ms", "median_itl_ms")
# What must be the same on both sides for a fair comparison.
_SAME = (
    *("model_id", "backend", "num_prompts", "burstiness", "total_input_tokens"),
    *("total_output_tokens",),
)


class BadServingError(CapturelintError):
    """A file is no result of vLLM's serving benchmark."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(
            f"{shown_path(path)}: {problem}; give what `vllm bench serve --save-result` wrote"
        )


@dataclass(frozen=True, slots=True)
class Load:
    """Under what load a server ran.

    `rate`: requests a second, as the file says; `concurrency`: or ""; `ramp`: how the rate rose, or "".
    """

    rate: str
    concurrency: str
    ramp: str = ""

    @property
    def order(self) -> tuple[float, float, str]:
        """Return what loads are sorted by."""
        return float(self.rate or "inf"), float(self.concurrency or "inf"), self.ramp

    @property
    def words(self) -> str:
        """Return the load in words."""
        rate = f"ramp {self.ramp}" if self.ramp else f"{self.rate or 'inf'} requests/s"
        return f"{rate}, concurrency {self.concurrency or 'any'}"


@dataclass(frozen=True, slots=True)
class Served:
    """Medians under one load, ms: time per output token, and between tokens; None where not told.

    `told`: what else the file says of the run, by name, as far as it must be the same on both sides.
    `failed`: requests that failed.
    """

    tpot: float | None
    itl: float | None
    told: Mapping[str, str] = field(default_factory=dict)
    failed: int = 0


@dataclass(frozen=True, slots=True)
class Pair:
    """The same load on both servers."""

    load: Load
    eager: Served
    graph: Served


@dataclass(frozen=True, slots=True)
class Servers:
    """Two files. `pairs`: the loads that both have; `notes`: what makes them less than comparable."""

    pairs: tuple[Pair, ...]
    notes: tuple[str, ...] = ()


def servers(eager: Path, graph: Path) -> Servers:
    """Return the loads that both files have. Raises `BadServingError`."""
    first, second = _read(eager), _read(graph)
    common = sorted(first.keys() & second.keys(), key=lambda load: load.order)
    if not common:
        raise BadServingError(graph, f"no request rate and concurrency as in {shown_path(eager)}")
    pairs = tuple(Pair(load, first[load], second[load]) for load in common)
    notes = [note for pair in pairs for note in _unfair(pair)]
    for path, loads in (
        (eager, first.keys() - second.keys()),
        (graph, second.keys() - first.keys()),
    ):
        names = "; ".join(load.words for load in sorted(loads, key=lambda load: load.order))
        notes += [f"only in {shown_path(path)}: {names}"] if names else []
    return Servers(pairs, tuple(dict.fromkeys(notes)))


def _unfair(pair: Pair) -> Iterator[str]:
    for name in _SAME:
        one, other = pair.eager.told.get(name), pair.graph.told.get(name)
        if one != other and None not in (one, other):
            yield f"{pair.load.words}: {name} is {one} and {other}"
    for server, run in (("eager", pair.eager), ("graph", pair.graph)):
        if run.failed:
            yield f"{pair.load.words}: {run.failed} requests of the {server} server failed"


def _read(path: Path) -> dict[Load, Served]:
    text = text_in(path, BadServingError)
    found: dict[Load, Served] = {}
    for run in _objects(path, text):
        served = _served(path, run)
        load = Load(
            _told(path, run, "request_rate"), _told(path, run, "max_concurrency"), _ramp(run)
        )
        if load in found:
            raise BadServingError(path, f"holds two runs with {load.words}")
        found[load] = served
    if not found:
        raise BadServingError(path, "holds no run")
    return found


def _served(path: Path, run: Mapping[str, object]) -> Served:
    tpot, itl = (_figure(path, run, name) for name in _FIGURES)
    if tpot is None and itl is None:
        raise BadServingError(path, f"has neither {' nor '.join(_FIGURES)}")
    failed = run.get("failed")
    return Served(
        tpot,
        itl,
        told={name: shown(run[name]) for name in _SAME if run.get(name) is not None},
        failed=failed if isinstance(failed, int) else 0,
    )


def _ramp(run: Mapping[str, object]) -> str:
    names = ("ramp_up_strategy", "ramp_up_start_rps", "ramp_up_end_rps")
    return " ".join(shown(run[name]).strip("'") for name in names if run.get(name) is not None)


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
    if value == 0 and not isinstance(value, bool):
        raise BadServingError(path, f"`{name}` is 0: no request gave two tokens or more")
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
