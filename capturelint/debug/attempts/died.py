"""A graph that kills the device or its process, where eager runs do not: no replay is eager then."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from capturelint.debug.attempts.refused import refused
from capturelint.debug.backend import Backend
from capturelint.debug.outcome import Outcome
from capturelint.verdict import Certainty, Verdict


class DiedError(Exception):
    """The device did not survive a stage. `outcome`: what that shows."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome.message)
        self.outcome = outcome


@contextmanager
def unless_lost(backend: Backend) -> Iterator[None]:
    """Put things back inside, unless the device is lost: then nobody goes on with it."""
    try:
        yield
    except RuntimeError:
        if not backend.spent():
            raise


def died_replaying(step: int, why: str) -> DiedError:
    """Return what to raise when the device did not survive the replay of `step`, from 0."""
    return DiedError(
        Outcome(
            Verdict.STALE,
            certainty=Certainty.MODULE_ONLY,
            message=f"replay {step + 1} kills the device, as eager calls do not: {why}",
            died=True,
        )
    )


def died_capturing(error: BaseException, *, before: BaseException | None) -> DiedError:
    """Return what to raise when the device did not survive a capture that ended with `error`.

    `before`: the exception that was being handled when it began.
    """
    first = error.__context__ or error
    return DiedError(replace(refused(first, before=before), died=True))
