"""What must be known to read a ladder: how it was chosen, and what its figures do not cover."""

from __future__ import annotations

from capturelint.measure.advice import MOST_RUNGS, Advice
from capturelint.measure.engines import VLLM_CEILING

_NAMED = 6  # sizes at most


def notes(advice: Advice) -> list[str]:
    """Return one sentence for each thing to know, in a fixed order."""
    choice = [_choice(advice)] if advice.best.sizes else []
    return [*choice, *_coverage(advice), *_measurements(advice)]


def percent(share: float) -> str:
    """Return a share of 1 in percent, with two digits or as many as it takes."""
    digits = ".2g" if share < 0.095 else ".0f"
    return f"{100 * share:{digits}} %"


def _choice(advice: Advice) -> str:
    limits = advice.limits
    pairs = (
        (limits.rungs, "{:g} graph" if limits.rungs == 1 else "{:g} graphs"),
        (limits.startup, "{:g} s of start-up"),
        (limits.memory, "{:g} MiB"),
    )
    told = [words.format(limit) for limit, words in pairs if limit is not None]
    if not told:
        fastest = min(one.ladder.step for one in advice.customary)
        if advice.best.step <= fastest:
            return "recommended are the fewest graphs with which no other ladder up to this size is faster"
        return f"recommended are the best {MOST_RUNGS} graphs; `--rungs` allows more"
    within = f"within {' and '.join(told)}"
    if not advice.gap:
        return f"{within} no ladder is faster than the recommended one"
    gap = percent(advice.gap)
    return f"{within} no ladder is faster than the recommended one by more than {gap}"


def _coverage(advice: Advice) -> list[str]:
    told = []
    top = advice.best.sizes[-1] if advice.best.sizes else 0
    if 0 < top < advice.largest:
        seen = f"{percent(advice.best.eager - advice.above)} here"
        told.append(
            f"steps of {top + 1} to {advice.largest} rows run eagerly ({seen}); capture"
            f" {advice.largest} too if more of them may come"
        )
    if advice.above:
        told.append(
            f"{percent(advice.above)} of steps have more than {advice.largest} rows and run"
            " eagerly in every ladder"
        )
    if advice.rounded:
        told.append(
            f"{percent(advice.rounded)} of steps do not fill whole requests of"
            f" {advice.rows_per_request} rows; graphs run them rounded up"
        )
    if advice.largest > VLLM_CEILING:
        told.append(
            f"left alone, vLLM captures no more than {VLLM_CEILING} rows (1024 on B200); here its"
            " pattern goes on"
        )
    return told


def _measurements(advice: Advice) -> list[str]:
    costs = advice.costs
    told = []
    if (
        costs.largest is not None
        and max(advice.traffic.counts[-1][0], advice.largest) > costs.largest
    ):
        told.append(
            f"nothing above {costs.largest} rows was measured; there figures are extended in a"
            " straight line"
        )
    for figure, sizes in costs.levelled:
        told.append(
            f"`{figure}` was averaged at {_named(sizes)}, as a larger size was measured as cheaper"
        )
    for figure, sizes in costs.predicted:
        told.append(
            f"`{figure}` of {_named(sizes)} is predicted from the sizes that it was measured at"
        )
    return told


def _named(sizes: tuple[int, ...]) -> str:
    return ", ".join(map(str, sizes[:_NAMED])) + (", ..." if len(sizes) > _NAMED else "")
