"""A ladder within limits made better rung by rung, until no single change helps."""

from __future__ import annotations

from collections.abc import Sequence

from capturelint.measure.ladder import SLACK
from capturelint.measure.prices import Resource
from capturelint.measure.steps import Steps

_ROUNDS = 12  # each looks at every size about three times


def improved(steps: Steps, resources: Sequence[Resource], path: Sequence[int]) -> list[int]:
    """Return a path within the limits that takes no more time than `path`, which is within them.

    Rungs are added, moved between their neighbours and dropped where they save nothing.
    """
    path = list(path)
    for _ in range(_ROUNDS):
        time = steps.time(path)
        for place in range(len(path) - 1, -1, -1):
            path = _with_best(steps, resources, path[:place], path[place], path[place + 1 :])
        for place in range(len(path), -1, -1):
            path = _with_best(steps, resources, path[:place], None, path[place:])
        if steps.time(path) >= time * (1 - SLACK):
            break
    return _trimmed(steps, path)


def _with_best(
    steps: Steps,
    resources: Sequence[Resource],
    below: list[int],
    rung: int | None,
    above: list[int],
) -> list[int]:
    """Return the path with the rung between two parts at its best node, or where it was."""
    counts, graph = steps.counts, steps.graph
    low = below[-1] if below else 0
    high = above[0] if above else len(steps.sizes)
    base = graph[high] * counts[high] if above else 0.0

    def cost(node: int) -> float:
        # What of the time depends on the node: its own steps, and those above up to the next rung.
        own = graph[node] * (counts[node] - counts[low])
        return own + (base - graph[high] * counts[node] if above else steps.above[node])

    if rung is None:
        least = graph[high] * (counts[high] - counts[low]) if above else steps.above[low]
    else:
        least = cost(rung)
    best = rung
    room = _room(resources, below, above)
    for node in range(low + 1, high):
        value = cost(node)
        if value < least * (1 - SLACK) and all(
            one.use[node] + (0.0 if above else one.last[node]) <= left
            for one, left in zip(resources, room, strict=True)
        ):
            best, least = node, value
    return [*below, *([] if best is None else [best]), *above]


def _room(resources: Sequence[Resource], below: list[int], above: list[int]) -> list[float]:
    """Return how much of each resource is left for a rung between; one on top pays `last` itself."""
    left = []
    for one in resources:
        taken = sum(one.use[node] for node in (*below, *above))
        left.append(one.limit - taken - (one.last[above[-1]] if above else 0.0))
    return left


def _trimmed(steps: Steps, path: list[int]) -> list[int]:
    for node in list(path):
        shorter = [one for one in path if one != node]
        if steps.time(shorter) <= steps.time(path) * (1 + SLACK):
            path = shorter
    return path
