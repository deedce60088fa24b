"""Which sizes to capture as JSON, one object for the whole run; what is not known is null."""

from __future__ import annotations

from capturelint.measure import engines
from capturelint.measure.advice import Advice
from capturelint.measure.ladder import Ladder
from capturelint.report.json import dumped
from capturelint.report.ladder_notes import notes

_VERSION = 1


def render(advice: Advice, *, source: str) -> str:
    """Return the advice as one line of ASCII, keys in a fixed order.

    Times are in `unit`: "ms" where they were measured, else "relative". Shares are from 0 to 1. `gap`: the
    share of the step time that a better ladder within the limits could save at most. Sizes are rows.
    """
    sizes = advice.best.sizes
    return dumped(
        {
            "version": _VERSION,
            "traffic": {
                "path": source,
                "steps": advice.traffic.steps,
                "idle": advice.traffic.idle,
                "above": advice.above,
                "rounded": advice.rounded,
            },
            "measured": advice.costs.is_measured,
            "unit": advice.costs.unit,
            "environment": dict(advice.costs.environment),
            "max": advice.largest,
            "multiple_of": advice.rows_per_request,
            "limits": {
                "rungs": advice.limits.rungs,
                "startup_seconds": advice.limits.startup,
                "mib": advice.limits.memory,
            },
            "recommended": {**_ladder(advice.best), "gap": advice.gap},
            "customary": [
                {"name": one.name, **_ladder(one.ladder), "as_fast_with": one.enough}
                for one in advice.customary
            ],
            "every_size": _ladder(advice.every),
            "by_count": [_ladder(one) for one in advice.choices],
            "drops": [
                {
                    "size": drop.size,
                    "slower": drop.slower,
                    "startup_seconds": drop.startup,
                    "mib": drop.memory,
                }
                for drop in advice.drops
            ],
            "flags": {
                "vllm": engines.vllm_flag(sizes) if sizes else None,
                "sglang": engines.sglang_flag(sizes, advice.rows_per_request) if sizes else None,
            },
            "notes": notes(advice),
        }
    )


def _ladder(ladder: Ladder) -> dict[str, object]:
    return {
        "sizes": list(ladder.sizes),
        "step": ladder.step,
        "padded": ladder.padded,
        "eager": ladder.eager,
        "startup_seconds": ladder.startup,
        "mib": ladder.memory,
        "unused": list(ladder.unused),
    }
