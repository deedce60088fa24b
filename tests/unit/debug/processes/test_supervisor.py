"""What the supervisor makes of children that die, told by children that follow a script."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from capturelint.debug.events import (
    Event,
    Failed,
    Fault,
    Finished,
    Judged,
    Reached,
    Ready,
    Said,
    Started,
    Stopped,
)
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes.child import TookTooLongError
from capturelint.debug.processes.supervisor import (
    RESTARTS,
    STARTING,
    CaseFailedError,
    ChildBugError,
    supervise,
)
from capturelint.verdict import ModuleVerdict, Report, Verdict

EQUAL = Outcome(Verdict.EQUAL)
REPORT = Report("", "stand-in", Verdict.EQUAL)
DEAD = "the process ended with exit code 3"


def died(words: str) -> Outcome:
    return Outcome(Verdict.UNDECIDED, why=f"{DEAD} {words}")


@dataclass
class ScriptedChild:
    """Tells `events`, then is dead; or, with `hangs`, tells nothing more."""

    events: Sequence[Event]
    hangs: bool = False
    ending: str = DEAD
    tail: str = ""
    has_crashed: bool = False
    deadlines: list[float] = field(default_factory=list)
    is_left: bool = False

    def __post_init__(self) -> None:
        self._left: Iterator[Event] = iter(self.events)

    def __enter__(self) -> ScriptedChild:
        return self

    def __exit__(self, *_: object) -> None:
        self.is_left = True

    def next_event(self, until: float) -> Event | None:
        self.deadlines.append(until)
        event = next(self._left, None)
        if event is None and self.hangs:
            raise TookTooLongError
        return event

    def print_stack(self) -> None:
        self.tail = 'Stack (most recent call first):\n  File "/m.py", line 7 in forward\n'


@dataclass
class Play:
    """A run of several scripted children. `asked`: what each was told to be known."""

    children: Sequence[ScriptedChild]
    known: Mapping[str, Outcome] = field(default_factory=dict)
    asked: list[dict[str, Outcome]] = field(default_factory=list)
    told: list[Event] = field(default_factory=list)

    def report(self) -> Report:
        return supervise(
            self.start, case="case", timeout=5, known=self.known, watch=self.told.append
        )

    def start(self, known: Mapping[str, Outcome]) -> Any:
        self.asked.append(dict(known))
        return self.children[len(self.asked) - 1]


def child(*events: Event, hangs: bool = False) -> ScriptedChild:
    return ScriptedChild(events, hangs)


def test_a_child_that_finishes_gives_the_report_the_name_of_the_case() -> None:
    play = Play([child(Said("a"), Started("load"), Finished(REPORT))])

    assert play.report() == Report("case", "stand-in", Verdict.EQUAL)
    assert play.told == list(play.children[0].events)
    assert play.children[0].is_left


def test_a_new_child_knows_what_was_judged_and_what_the_last_one_died_in() -> None:
    known = {"judge x": EQUAL}
    first = child(Judged("judge a", EQUAL), Started("judge b"))
    play = Play([first, child(Finished(REPORT))], known)

    play.report()

    dead = {"judge b": died("while judging b")}
    assert play.asked == [known, {**known, "judge a": EQUAL, **dead}]
    assert play.told[-2] == Judged("judge b", dead["judge b"])
    assert first.is_left


def test_after_a_death_it_is_said_whose_counts_are_told() -> None:
    play = Play([child(Started("judge a")), child(Finished(REPORT))])

    assert play.report().notes == (
        "attempts, forwards and times are those of the last of 2 processes; the others died",
    )


def test_a_death_between_two_steps_is_tried_again_once() -> None:
    first, second = (child(Started("judge a"), Judged("judge a", EQUAL)) for _ in range(2))
    play = Play([first, second, child(Finished(REPORT))])

    report = play.report()

    assert play.asked == [{}, {"judge a": EQUAL}]
    assert report.modules == (
        ModuleVerdict("", "", Verdict.UNDECIDED, 0, f"{DEAD} after judging a"),
        ModuleVerdict("a", "", Verdict.EQUAL, 0),
    )


def test_a_step_that_is_run_again_in_spite_of_its_death_ends_the_run() -> None:
    play = Play([child(Started("judge a")), child(Started("judge a"))])

    report = play.report()

    assert len(play.asked) == 2
    assert report.modules[1] == ModuleVerdict(
        "a", "", Verdict.UNDECIDED, 0, died("while judging a").why
    )


@pytest.mark.parametrize("step", ["load", "warm up", "warm up draft"])
def test_after_a_death_in_a_step_that_cannot_be_left_out_nobody_tries_again(step: str) -> None:
    play = Play([child(Ready("cuda", {"gpu": "H200"}), Started(step))])

    report = play.report()

    assert len(play.asked) == 1
    assert (report.verdict, report.backend, report.environment) == (
        Verdict.UNDECIDED,
        "cuda",
        {"gpu": "H200"},
    )


def test_a_death_before_anything_was_told_is_one_while_starting() -> None:
    assert Play([child()]).report().modules[0].why == f"{DEAD} while starting"


def test_what_a_hanging_child_shows_of_its_stack_is_in_the_outcome() -> None:
    play = Play([child(Started("judge a"), hangs=True), child(Finished(REPORT))])

    play.report()

    (outcome,) = play.asked[1].values()
    assert outcome.why == "took longer than 5 s (--timeout) while judging a, at /m.py:7"
    assert [(place.path, place.line) for place in outcome.places] == [("/m.py", 7)]


def test_the_time_of_a_step_begins_with_it_whatever_is_said() -> None:
    script = child(Started("load"), Said("a"), Started("warm up"), Finished(REPORT))
    start = time.monotonic()

    Play([script]).report()

    first, second, third, fourth = (deadline - start for deadline in script.deadlines)
    assert first >= STARTING  # importing torch is no step
    assert 5 <= second == third < fourth < 60


def test_a_way_out_that_user_code_took_is_the_death_of_the_step() -> None:
    play = Play(
        [child(Started("judge a"), Stopped("raised SystemExit: 3")), child(Finished(REPORT))]
    )

    play.report()

    assert play.asked[1]["judge a"].why == "raised SystemExit: 3 while judging a"


def test_restarts_have_an_end() -> None:
    play = Play([child(Started(f"judge {number}")) for number in range(RESTARTS + 5)])

    report = play.report()

    assert len(play.asked) == RESTARTS + 1
    assert f"after {RESTARTS} processes that died no other is started" in report.notes[0]
    assert len(report.modules) == RESTARTS + 2


def test_whose_fault_a_failure_is_decides_what_is_raised() -> None:
    with pytest.raises(CaseFailedError, match=r"^no such file$"):
        Play([child(Failed(Fault.USERS, "no such file"))]).report()
    with pytest.raises(ChildBugError, match=r"^Traceback$"):
        Play([child(Failed(Fault.OURS, "Traceback"))]).report()


def test_a_child_is_left_when_the_user_interrupts() -> None:
    script = child(Said("a"))

    def interrupt(_: Event) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        supervise(lambda _: script, case="", timeout=5, known={}, watch=interrupt)  # type: ignore[arg-type,return-value]
    assert script.is_left


@pytest.mark.parametrize(
    ("stages", "has_crashed", "verdict"),
    [
        (["capturing"], True, Verdict.REFUSES),
        (["capturing", "running eagerly", "replaying"], True, Verdict.STALE),
        (["capturing", "running eagerly"], True, Verdict.UNDECIDED),
        ([], True, Verdict.UNDECIDED),
        (["replaying"], False, Verdict.UNDECIDED),
    ],
)
def test_a_crash_in_a_capture_or_a_replay_is_what_the_graph_does(
    stages: list[str],
    has_crashed: bool,
    verdict: Verdict,
) -> None:
    events: list[Event] = [Started("judge a"), *map(Reached, stages)]
    play = Play([ScriptedChild(events, has_crashed=has_crashed), child(Finished(REPORT))])

    play.report()

    outcome = play.asked[1]["judge a"]
    assert (outcome.verdict, outcome.died) == (verdict, verdict is not Verdict.UNDECIDED)
    assert DEAD in (outcome.message or outcome.why)


def test_the_stage_of_one_step_is_not_that_of_the_next() -> None:
    first: list[Event] = [Started("judge a"), Reached("replaying"), Judged("judge a", EQUAL)]
    events = [*first, Started("own b")]
    play = Play([ScriptedChild(events, has_crashed=True), child(Finished(REPORT))])

    play.report()

    assert play.asked[1]["own b"].verdict is Verdict.UNDECIDED
