"""Steps of a run are told when they start and when they are judged, and run once."""

from __future__ import annotations

import pytest

from capturelint.debug.backend import SpentError
from capturelint.debug.events import Event, Judged, Started
from capturelint.debug.ledger import Ledger
from capturelint.debug.outcome import Outcome
from capturelint.verdict import Verdict

EQUAL = Outcome(Verdict.EQUAL)
DIED = Outcome(Verdict.UNDECIDED, why="was killed by SIGSEGV")


def test_a_step_is_told_judged_and_run_once() -> None:
    told: list[Event] = []
    ledger = Ledger({}, told.append)
    runs: list[str] = []

    def work() -> Outcome:
        runs.append("a")
        return EQUAL

    assert [ledger.outcome("judge a", work), ledger.outcome("judge a", work)] == [EQUAL, EQUAL]
    assert runs == ["a"]
    assert told == [Started("judge a"), Judged("judge a", EQUAL)]
    assert (ledger.attempts, set(ledger.seconds)) == (1, {"judge"})


def test_a_step_that_is_known_is_neither_run_nor_told() -> None:
    told: list[Event] = []
    ledger = Ledger({"judge a": DIED}, told.append)

    assert ledger.outcome("judge a", lambda: EQUAL) == DIED
    assert (told, ledger.attempts, ledger.died("judge a"), ledger.died("load")) == (
        [],
        0,
        DIED,
        None,
    )


def test_seconds_are_counted_by_kind_also_when_a_step_raises() -> None:
    told: list[Event] = []
    ledger = Ledger({}, told.append)
    with pytest.raises(ZeroDivisionError), ledger.timed("record a"):
        _ = 1 / len(told[1:])

    assert told == [Started("record a")]
    assert set(ledger.seconds) == {"record"}


def test_a_process_that_a_step_has_spent_stops_after_telling_its_outcome() -> None:
    told: list[Event] = []
    ledger = Ledger({}, told.append, lambda: "a handle is broken")
    with pytest.raises(SpentError, match=r"^a handle is broken$"):
        ledger.outcome("judge a", lambda: EQUAL)

    assert told == [Started("judge a"), Judged("judge a", EQUAL)]
    assert ledger.outcome("judge a", lambda: DIED) == EQUAL
