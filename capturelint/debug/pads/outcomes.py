"""What runs with pad rows come to, as outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from capturelint.debug.attempts.refused import first_line
from capturelint.debug.outcome import Outcome
from capturelint.debug.pads.moved import Moved
from capturelint.debug.pads.rows import Rows
from capturelint.errors import CapturelintError
from capturelint.verdict import Certainty, Evidence, Verdict

MESSAGE = "what the pad rows hold changes real rows"


def judged_by(work: Callable[[], Outcome]) -> Outcome:
    """Return what `work` comes to; undecided where odd values break what handles all others."""
    try:
        return work()
    except CapturelintError:
        raise
    except Exception as error:  # noqa: BLE001 - as said
        return undecided(f"it could not be judged: {first_line(error)}")


def failing_in(outcomes: Mapping[str, Outcome], paths: Sequence[str]) -> list[str]:
    """Return those of `paths` that are to blame themselves, or may be."""
    wrong = (Verdict.PADS, Verdict.UNDECIDED)
    return [path for path in paths if path in outcomes and outcomes[path].verdict in wrong]


def leak(found: Moved, rows: Rows, fill: str | None) -> Outcome:
    """Return what it means that something moved, or that nothing did. `fill`: what did it, if known."""
    moved = found.difference
    if moved is None:
        return undecided(found.doubt) if found.doubt else Outcome(Verdict.EQUAL)
    return Outcome(
        Verdict.PADS,
        certainty=Certainty.MODULE_ONLY,
        message=MESSAGE,
        evidence=Evidence(
            output=moved.path,
            difference=moved.largest,
            tolerance=moved.tolerance,
            dtype=moved.dtype,
            fills=() if fill is None else (fill,),
            rows=str(rows),
        ),
    )


def undecided(why: str) -> Outcome:
    """Return that it could not be told, and why."""
    return Outcome(Verdict.UNDECIDED, why=why)
