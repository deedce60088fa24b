"""From what the search found to the lines to blame."""

from __future__ import annotations

from dataclasses import replace

from capturelint.debug.culprits import culprits_of, in_module
from capturelint.debug.outcome import Outcome
from capturelint.debug.search import Found, How
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Culprit, Evidence, Frozen, Hazard, Place, Verdict

ITEM = Place("/m.py", 3, "M.forward", "n = x.item()")
COPY = Place("/m.py", 5, "M.forward", "y = x.cpu()")
REFUSED = Outcome(Verdict.REFUSES, (ITEM,), operation="aten._local_scalar_dense", message="no")
FOUND = Found("a", Verdict.REFUSES, How.WHOLE)
BLAMED = Culprit("a", "M", ITEM, "aten._local_scalar_dense", Effect.REFUSES, Certainty.SHOWN, "no")


def hazard(place: Place, module: str = "a", effect: Effect = Effect.REFUSES) -> Hazard:
    return Hazard(place, module, "aten.copy_", effect, "not pinned")


def test_the_line_that_raised_is_shown_to_be_to_blame() -> None:
    assert culprits_of(FOUND, REFUSED, (hazard(ITEM),), "M", blamed=()) == (BLAMED,)


def test_a_line_of_the_module_that_capture_did_not_reach_is_likely_to_blame() -> None:
    second = Culprit("a", "M", COPY, "aten.copy_", Effect.REFUSES, Certainty.LIKELY, "not pinned")

    assert culprits_of(FOUND, REFUSED, (hazard(COPY),), "M", blamed=()) == (BLAMED, second)


def test_lines_of_other_modules_and_lines_that_are_not_refused_are_not_added() -> None:
    others = (hazard(COPY, "a.b"), hazard(COPY, effect=Effect.STALE))

    assert culprits_of(FOUND, REFUSED, others, "M", blamed=()) == (BLAMED,)


def test_a_line_that_a_module_below_is_blamed_for_is_not_repeated() -> None:
    assert culprits_of(FOUND, REFUSED, (), "M", blamed=(ITEM,)) == ()


def test_a_line_of_a_helper_that_two_modules_run_is_named_in_both() -> None:
    both = (hazard(ITEM), hazard(ITEM, "a.b"))

    assert culprits_of(replace(FOUND, how=How.OWN), REFUSED, both, "M", blamed=(ITEM,)) == (BLAMED,)


def test_modules_that_fail_together_are_evidence() -> None:
    found = Found("a", Verdict.REFUSES, How.TOGETHER, ("a.b", "a.c"))
    (culprit,) = culprits_of(found, REFUSED, (), "M", blamed=())

    assert culprit.evidence == Evidence(together=("a.b", "a.c"))


def test_without_a_line_the_module_alone_is_to_blame() -> None:
    (culprit,) = culprits_of(FOUND, replace(REFUSED, places=()), (), "M", blamed=())

    assert (culprit.place, culprit.certainty) == (None, Certainty.MODULE_ONLY)


def test_without_a_line_the_one_that_was_seen_to_do_the_same_is_to_blame() -> None:
    outcome = Outcome(Verdict.REFUSES, operation="aten.copy_", message="not pinned")
    seen = (hazard(COPY), hazard(ITEM, "b"))
    likely = Culprit("a", "M", COPY, "aten.copy_", Effect.REFUSES, Certainty.LIKELY, "not pinned")

    assert culprits_of(FOUND, outcome, seen, "M", blamed=()) == (likely,)


def test_of_two_lines_that_did_the_same_neither_is_taken_for_the_one_that_raised() -> None:
    outcome = Outcome(Verdict.REFUSES, operation="aten.copy_", message="not pinned")
    culprits = culprits_of(FOUND, outcome, (hazard(COPY), hazard(ITEM)), "M", blamed=())

    assert [culprit.place for culprit in culprits] == [None, COPY, ITEM]


def test_a_module_that_is_not_registered_has_the_line_of_its_caller() -> None:
    outcome = Outcome(Verdict.REFUSES, operation="aten.copy_", message="not pinned")
    found = replace(FOUND, path="a.<Linear not registered>")
    (culprit,) = culprits_of(found, outcome, (hazard(COPY, ""),), "M", blamed=())

    assert (culprit.place, culprit.module) == (COPY, "a.<Linear not registered>")


def test_a_stale_module_says_what_was_frozen() -> None:
    frozen = Frozen(ITEM, "aten.mul", "4", "5", COPY, "self.step")
    outcome = Outcome(Verdict.STALE, (COPY, ITEM), evidence=Evidence(replay=2, frozen=(frozen,)))
    (culprit,) = culprits_of(FOUND, outcome, (hazard(ITEM),), "M", blamed=())

    assert culprit.message == "every replay uses what `self.step` gave during capture: 4, then 5"
    assert (culprit.place, culprit.effect) == (COPY, Effect.STALE)


def test_what_passes_or_cannot_be_judged_has_no_culprit() -> None:
    for verdict in (Verdict.EQUAL, Verdict.UNDECIDED, Verdict.NONDETERMINISTIC):
        assert culprits_of(FOUND, Outcome(verdict, (ITEM,)), (hazard(ITEM),), "M", blamed=()) == ()


def test_a_root_that_alone_fails_is_blamed_in_the_module_that_ran_the_line() -> None:
    (culprit,) = in_module("", REFUSED, "M", (hazard(COPY, "b"), hazard(ITEM, "a.c")))

    assert (culprit.module, culprit.place) == ("a.c", ITEM)
