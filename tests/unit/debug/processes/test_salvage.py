"""The report of a run that did not come to its end."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from capturelint.debug.outcome import Outcome
from capturelint.debug.processes.salvage import salvaged
from capturelint.finding import Effect
from capturelint.verdict import Culprit, ModuleVerdict, Place, Report, Verdict

EQUAL = Outcome(Verdict.EQUAL)
UNDECIDED = Outcome(Verdict.UNDECIDED, why="died")
LINE = Place("/m.py", 7, "forward")
REFUSES = Outcome(Verdict.REFUSES, (LINE,), operation="item", message="not permitted")


def report(known: Mapping[str, Outcome], printed: str = "") -> Report:
    return salvaged(
        "case", known, why="it died", printed=printed, backend="simulated", environment={"a": "b"}
    )


def test_without_any_outcome_the_case_is_undecided_and_says_why() -> None:
    assert report({}) == Report(
        case="case",
        backend="simulated",
        verdict=Verdict.UNDECIDED,
        modules=(ModuleVerdict("", "", Verdict.UNDECIDED, 0, "it died"),),
        notes=("the search did not come to its end: it died",),
        environment={"a": "b"},
    )


def test_what_was_judged_is_kept_and_the_worst_decides() -> None:
    found = report({"judge ": UNDECIDED, "judge a": REFUSES, "own a": REFUSES, "judge b": EQUAL})

    assert found.modules == (
        ModuleVerdict("", "", Verdict.UNDECIDED, 0, "died"),
        ModuleVerdict("a", "", Verdict.REFUSES, 0),
        ModuleVerdict("b", "", Verdict.EQUAL, 0),
    )
    assert (found.verdict, found.exit_code) == (Verdict.REFUSES, 1)


def test_what_pad_rows_moved_is_kept_unless_worse_was_found() -> None:
    leaks = Outcome(Verdict.PADS, message="rows move")
    known = {
        "judge ": EQUAL,
        "judge a": REFUSES,
        "pad  with NaN, 1 pad rows": leaks,
        "pad a": leaks,
    }
    found = report(known)

    assert [(one.path, one.verdict) for one in found.modules] == [
        ("", Verdict.PADS),
        ("a", Verdict.REFUSES),
    ]


def test_a_run_whose_modules_all_passed_is_no_pass() -> None:
    assert report({"judge ": EQUAL, "judge a": EQUAL}).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("judged", "blamed"),
    [
        (["", "a", "a.b"], ["a.b"]),
        (["", "a", "ab"], ["a", "ab"]),
        (["a.b", "a"], ["a.b"]),
        ([""], [""]),
        ([], []),
    ],
)
def test_only_the_deepest_modules_that_fail_are_blamed(
    judged: list[str], blamed: list[str]
) -> None:
    found = report({f"judge {path}": REFUSES for path in judged})

    assert [(one.module, one.place, one.effect) for one in found.culprits] == [
        (path, LINE, Effect.REFUSES) for path in blamed
    ]


def test_a_culprit_says_what_was_refused() -> None:
    (culprit,) = report({"judge a": REFUSES}).culprits

    assert culprit == Culprit(
        "a", "", LINE, "item", Effect.REFUSES, REFUSES.certainty, "not permitted"
    )


def test_the_last_lines_of_what_was_printed_are_a_note() -> None:
    printed = "\n".join(f"line {number}" for number in range(100)) + "\n" + "x" * 1000

    note = report({}, printed).notes[1].splitlines()

    assert note[:2] == ["what it printed last:", "  line 81"]
    assert (len(note), note[-1]) == (21, f"  {'x' * 160}")


def test_what_is_stale_alone_is_undecided_where_the_run_together_died() -> None:
    stale = Outcome(Verdict.STALE, (LINE,))
    found = report({"judge ": stale, "together": UNDECIDED})
    of_parts = report({"judge a": stale, "judge b": EQUAL, "together a": EQUAL})

    assert (found.verdict, found.culprits) == (Verdict.UNDECIDED, ())
    assert found.modules[0].why.endswith(": died")
    assert [one.verdict for one in of_parts.modules[1:]] == [Verdict.EQUAL, Verdict.EQUAL]
