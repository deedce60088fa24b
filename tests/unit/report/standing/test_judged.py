"""How findings stand after a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from capturelint.execution import Asked, Executed, Noted, Ran
from capturelint.finding import Effect, Finding, Span
from capturelint.report.standing.judged import judged
from capturelint.report.standing.stand import Located
from capturelint.verdict import Certainty, Culprit, ModuleVerdict, Place, Report, Verdict

PATH = "/somewhere/m.py"
AT = Asked(PATH, 5, 8, 5, 16)
READ = Finding("CL101", "host-read", (Effect.REFUSES,), "reads", "m.py", Span(5, 8, 5, 16))
STALE = replace(READ, code="CL205", effects=(Effect.STALE,))
SYNC = Noted("layer", "aten.item", Effect.REFUSES, "no")
ONCE = Ran(calls=1, entered=1, lines=1, modules=("layer",))


def report(*verdicts: tuple[str, Verdict], ran: Ran = ONCE, **executed: object) -> Report:
    modules = tuple(ModuleVerdict(path, "Layer", one, 1, "odd") for path, one in verdicts)
    return Report(
        "case",
        "simulated",
        Verdict.EQUAL,
        modules or (ModuleVerdict("", "Model", Verdict.EQUAL, 1),),
        timings={"replays": 6},
        executed=replace(Executed((ran,)), **executed),  # type: ignore[arg-type] # as each test says
    )


def culprit(line: int = 5, effect: Effect = Effect.REFUSES, code: str = "CL101") -> Culprit:
    place = Place(PATH, line) if line else None
    return Culprit("layer", "Layer", place, "aten.item", effect, Certainty.SHOWN, "no", code)


def stand(found: Report, finding: Finding = READ, skipped: tuple[str, ...] = ()) -> tuple[str, str]:
    [one] = judged([Located(finding, AT)], found, skipped)
    return one.standing.value, one.why


def blaming(*culprits: Culprit, ran: Ran = ONCE) -> Report:
    return replace(report(("", Verdict.REFUSES), ran=ran), culprits=culprits)


def test_a_line_that_is_to_blame_proves_it() -> None:
    assert stand(blaming(culprit())) == ("proved", "refuses-capture in layer: aten.item")
    slow = replace(READ, effects=(Effect.SLOW,))
    assert stand(blaming(culprit()), slow)[0] == "proved"


def test_a_line_seen_to_wait_as_if_capturing_proves_it() -> None:
    failing = report(("", Verdict.REFUSES), ran=replace(ONCE, noted=(SYNC,)))

    assert stand(failing) == ("proved", "as if capturing, in layer: aten.item")
    assert stand(report(ran=replace(ONCE, noted=(SYNC,)))) == (
        "cannot tell",
        "as if capturing it did aten.item, yet layer was captured and its replays are equal",
    )


def test_what_ran_and_did_nothing_is_refuted() -> None:
    twice = replace(ONCE, calls=2, modules=("a", "b", "c", "d"))

    assert stand(report()) == (
        "refuted",
        "it ran once as if capturing, in layer, and neither waited nor copied",
    )
    assert stand(report(ran=twice))[1].startswith(
        "it ran 2 times as if capturing, in a, b, c and 1"
    )
    assert stand(report(), STALE) == (
        "refuted",
        "it ran once as if capturing, in layer, and 6 replays on fresh inputs were equal",
    )


def test_what_did_not_run_is_not_reached_though_its_line_is_to_blame() -> None:
    inside = Ran(calls=0, entered=3, is_file_run=True)

    assert stand(blaming(culprit(), ran=inside)) == (
        "not reached",
        "its function ran 3 times as if capturing, this not",
    )
    beside = Ran(calls=0, is_file_run=True)
    assert stand(report(ran=beside))[1] == "its function did not run as if capturing"
    assert stand(report(ran=Ran(calls=0), broke="KeyError: 1"))[1] == (
        "nothing of its file ran as if capturing; that run ended early: KeyError: 1"
    )


@pytest.mark.parametrize(
    ("found", "finding", "why"),
    [
        (replace(report(), executed=None), READ, "nothing was run as if capturing"),
        (report(ran=Ran(entered=1, lines=1)), READ, "it is not known whether it ran"),
        (report(broke="KeyError: 1"), READ, "the run as if capturing ended early: KeyError: 1"),
        (report(), replace(READ, code="CL901"), "it is about what stands around a capture"),
        (report(), replace(READ, code="CL002"), "it is about no code that a case runs"),
        (report(), replace(READ, effects=()), "it names no effect"),
        (report(("layer", Verdict.UNDECIDED)), READ, "layer, which ran it, is undecided"),
        (
            replace(report(("", Verdict.REFUSES)), backend="cuda"),
            READ,
            "layer, which ran it, was not captured whole",
        ),
        (
            report(("", Verdict.REFUSES)),
            replace(READ, code="CL702"),
            "layer, which ran it, was not captured whole",
        ),
        (report(unplaced=(SYNC,)), READ, "layer is to blame, and no line of it is known"),
        (blaming(culprit(line=0)), READ, "layer is to blame, and no line of it is known"),
        (
            blaming(culprit(effect=Effect.STALE)),
            READ,
            "its line is to blame for something else: stale-on-replay, aten.item",
        ),
        (
            report(ran=replace(ONCE, noted=(replace(SYNC, effect=Effect.STALE),))),
            READ,
            "as if capturing, its line did something else: aten.item",
        ),
        (
            report(),
            replace(STALE, code="CL501"),
            "it ran once as if capturing, in layer, and equal",
        ),
        (
            report(),
            replace(STALE, code="CL504"),
            "it ran once as if capturing, in layer, and equal",
        ),
        (report(("", Verdict.REFUSES)), STALE, "no replay of layer, which ran it, was equal"),
        (report(changes=("step (1 -> 2)",)), STALE, "each call changes step (1 -> 2); nothing"),
        (report(held=("mask",)), STALE, "replays had no fresh inputs: mask did not vary"),
    ],
)
def test_what_is_not_shown_cannot_be_told(found: Report, finding: Finding, why: str) -> None:
    standing, said = stand(found, finding)

    assert standing == "cannot tell"
    assert said.startswith(why)


def test_what_was_left_out_of_the_capture_is_not_refuted() -> None:
    assert stand(report(), skipped=("lay*",)) == (
        "cannot tell",
        "layer was left out of the capture (--skip)",
    )


def test_of_two_findings_on_a_line_the_one_that_the_run_names_is_proved() -> None:
    other = replace(READ, code="CL102")
    found = blaming(culprit(code="CL102"))
    found = replace(found, executed=Executed((ONCE, ONCE)))

    [first, second] = judged([Located(READ, AT), Located(other, AT)], found)
    assert (first.standing.value, second.standing.value) == ("refuted", "proved")


def test_what_another_expression_on_its_line_did_proves_nothing() -> None:
    beside = replace(SYNC, operation="aten.copy", is_beside=True)
    other = blaming(culprit(), ran=replace(ONCE, noted=(beside,)))
    both = blaming(culprit(), ran=replace(ONCE, noted=(beside, SYNC)))

    assert stand(other) == (
        "cannot tell",
        "another expression on its line did aten.copy as if capturing, this one was not seen to",
    )
    assert stand(both) == ("proved", "refuses-capture in layer: aten.item")


def test_the_operation_of_a_proof_is_what_its_own_expression_did() -> None:
    own = replace(SYNC, operation="aten.copy")
    found = blaming(culprit(), ran=replace(ONCE, noted=(replace(SYNC, is_beside=True), own)))

    assert stand(found) == ("proved", "refuses-capture in layer: aten.copy")


def test_a_finding_without_a_place_keeps_its_reason() -> None:
    [one] = judged([Located(READ, problem="it has moved")], report())

    assert (one.standing.value, one.why) == ("cannot tell", "it has moved")
