"""What to do about one size, in words and why: graph, graph in pieces, or leave eager."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from capturelint.measure.bench.result import Size, Way

# A gain that is smaller is not worth a graph's memory and start-up.
LEAST = 1.05


class Choice(Enum):
    """What to do."""

    GRAPH = "graph"
    PIECES = "graph in pieces"
    EAGER = "leave eager"


@dataclass(frozen=True, slots=True)
class Advice:
    """What to do about a size, and why."""

    choice: Choice
    why: str


def advice(one: Size, *, in_pieces: bool) -> Advice:
    """Return what to do about a size. `in_pieces`: the graphs that were measured are pieces."""
    if Way.GRAPH in one.wrong:
        return Advice(Choice.EAGER, one.wrong[Way.GRAPH])
    gain = one.speedup(Way.GRAPH)
    if gain is None:
        return Advice(Choice.EAGER, "no graph was measured")
    bound = one.timings[Way.EAGER].launch_bound
    waits = "" if bound is None else f"; the GPU waits {100 * bound:.0f} % of an eager step"
    if gain.p50 < LEAST:
        busy = (
            "" if bound is None else f"; the GPU works {100 * (1 - bound):.0f} % of an eager step"
        )
        return Advice(Choice.EAGER, f"a step is {gain.p50:.2f} times as fast{busy}")
    if gain.p10 < 1:
        why = f"{gain.p50:.2f} times as fast, but steps vary by more ({gain.p10:.2f} to {gain.p90:.2f})"
        return Advice(Choice.EAGER, why)
    choice = Choice.PIECES if in_pieces else Choice.GRAPH
    return Advice(choice, f"{gain.p50:.2f} times as fast{waits}{_compiled(one)}")


def _compiled(one: Size) -> str:
    """Return how much faster a step is under `torch.compile`, "" where it was not measured."""
    gains = [(way, one.speedup(way)) for way in (Way.COMPILED, Way.COMPILED_GRAPH)]
    return "".join(f"; {way.value} {gain.p50:.2f}" for way, gain in gains if gain is not None)
