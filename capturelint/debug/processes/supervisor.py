"""Keep a run going though the user's code hangs, aborts or is killed; return what was found."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from capturelint.debug.events import (
    Event,
    Failed,
    Fault,
    Finished,
    Judged,
    Reached,
    Ready,
    Started,
    Stopped,
    doing,
)
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes.child import Child, TookTooLongError
from capturelint.debug.processes.salvage import salvaged
from capturelint.debug.processes.stack import printed_places, without_stack
from capturelint.errors import CapturelintError, shown_path
from capturelint.verdict import Certainty, Evidence, Place, Report, Verdict

RESTARTS = 20  # of one run
STARTING = 300.0  # seconds that Python and torch may take to be there, if steps may not take longer

_LAST = "attempts, forwards and times are those of the last of {} processes; the others died"

Start: TypeAlias = Callable[[Mapping[str, Outcome]], Child]


class CaseFailedError(CapturelintError):
    """The case cannot be run as it is. The text is what the child process said."""


class ChildBugError(Exception):
    """capturelint failed in the child process, which is our bug. The text is the traceback."""


@dataclass(frozen=True, slots=True)
class _Death:
    """A child ended before its work was done. `printed`: the end of what user code wrote.

    `stage`: what it was doing, if it crashed there, as it had told before.
    """

    step: str
    why: str
    printed: str = ""
    stage: str = ""

    @property
    def places(self) -> tuple[Place, ...]:
        return printed_places(self.printed)

    @property
    def in_words(self) -> str:
        at = [f", at {shown_path(place.path)}:{place.line}" for place in self.places[:1]]
        when = doing(self.step) if self.is_between else f"while {doing(self.step)}"
        return f"{self.why} {when}{''.join(at)}"

    @property
    def is_between(self) -> bool:
        """Return whether no step was running."""
        return self.step.startswith("after ")

    @property
    def is_final(self) -> bool:
        """Return whether a new child would have to do the same again."""
        return self.step in ("", "load") or self.step.startswith("warm up")


def supervise(
    start: Start,
    *,
    case: str,
    timeout: float,
    known: Mapping[str, Outcome],
    watch: Callable[[Event], object],
) -> Report:
    """Return the report of children that `start` makes, one after the other while they die.

    `start` is given the outcomes known so far; a step that a child dies in is undecided from then
    on. `timeout`: seconds for each step. `watch` is told each event, and the outcomes of such
    steps. What cannot go on ends in a report of what was found. Raises `CaseFailedError` for what
    the user must mend, `ChildBugError` for a bug of ours.
    """
    run = _Run(timeout, watch, dict(known))
    while True:
        with start(run.known) as child:
            end = run.follow(child)
        if isinstance(end, Finished):
            died = [_LAST.format(len(run.died_in) + 1)] if run.died_in else []
            return replace(end.report, case=case, notes=(*end.report.notes, *died))
        if isinstance(end, Failed):
            raise (CaseFailedError if end.fault is Fault.USERS else ChildBugError)(end.message)
        # All that it wrote is there only now that it has ended.
        death = replace(end, printed=child.tail)
        if not run.can_go_on(death):
            return run.given_up(case, death)


@dataclass(slots=True)
class _Run:
    """What is known about one run. `died_in`: the steps in which a child ended."""

    timeout: float
    watch: Callable[[Event], object]
    known: dict[str, Outcome]
    ready: Ready = field(default_factory=lambda: Ready("none"))
    died_in: set[str] = field(default_factory=set)

    def follow(self, child: Child) -> Finished | Failed | _Death:
        """Listen to `child` until it has done its work or is dead."""
        step, stage, limit = "", "", max(self.timeout, STARTING)
        until = time.monotonic() + limit
        while True:
            try:
                event = child.next_event(until)
            except TookTooLongError:
                child.print_stack()
                return _Death(step, f"took longer than {limit:g} s (--timeout)")
            if event is None:
                return _Death(step, child.ending, stage=stage if child.has_crashed else "")
            self.watch(event)
            if isinstance(event, Finished | Failed):
                return event
            if isinstance(event, Stopped):
                return _Death(step, event.why)
            if isinstance(event, Ready):
                self.ready = event
            if isinstance(event, Judged):
                self.known[event.step] = event.outcome
            if isinstance(event, Reached):
                stage = event.stage
            if isinstance(event, Started | Judged):
                stage = ""
                step = event.step if isinstance(event, Started) else f"after {event.step}"
                limit = self.timeout
                until = time.monotonic() + limit

    def can_go_on(self, death: _Death) -> bool:
        """Return whether a new child may get further. The step is undecided from now on."""
        if death.is_final or death.step in self.died_in:
            return False
        self.died_in.add(death.step)
        # Between two steps there is none to leave out: a new child tries again, once.
        if not death.is_between:
            outcome = _outcome_of(death)
            self.known[death.step] = outcome
            self.watch(Judged(death.step, outcome))
        return len(self.died_in) <= RESTARTS

    def given_up(self, case: str, death: _Death) -> Report:
        """Return a report of what is known."""
        return salvaged(
            case,
            self.known,
            why=death.in_words + self._no_more,
            printed=without_stack(death.printed) if death.places else death.printed,
            backend=self.ready.backend,
            environment=self.ready.environment,
        )

    @property
    def _no_more(self) -> str:
        has_had_enough = len(self.died_in) > RESTARTS
        return (
            f"; after {RESTARTS} processes that died no other is started" if has_had_enough else ""
        )


def _outcome_of(death: _Death) -> Outcome:
    """Return what the death of a child says of the step that it died in.

    Eager calls were survived before a capture, and a replay that crashes does not do as they do.
    """
    verdict = _CRASHED_IN.get(death.stage)
    if verdict is None:
        return Outcome(Verdict.UNDECIDED, death.places, why=death.in_words)
    return Outcome(
        verdict,
        death.places,
        certainty=Certainty.AT_OR_BEFORE if death.places else Certainty.MODULE_ONLY,
        message=f"{death.why} while {death.stage}, as eager calls do not",
        evidence=Evidence(exception=death.why),
        died=True,
    )


_CRASHED_IN: Mapping[str, Verdict] = {
    "capturing": Verdict.REFUSES,
    "replaying": Verdict.STALE,
}
