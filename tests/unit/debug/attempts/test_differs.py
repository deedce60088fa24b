"""What a graph leaves out is to blame, also where eager runs differ from each other."""

from __future__ import annotations

import pytest

from capturelint.debug.attempts.differs import blaming
from capturelint.debug.outcome import Outcome
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Hazard, Place, Verdict

LINE = Place("/model.py", 7, "forward", "y = x * 2")
OUTSIDE = Hazard(
    LINE, "", "aten.mul.Tensor on a stream outside the capture", Effect.REFUSES, "not permitted"
)
PUT_BACK = Hazard(LINE, "", "torch.cuda.set_rng_state", Effect.STALE, "put back")
READ = Hazard(LINE, "", "aten._local_scalar_dense.default", Effect.REFUSES, "not permitted")


@pytest.mark.parametrize(
    ("verdict", "hazard", "then"),
    [
        (Verdict.STALE, OUTSIDE, Verdict.WORK_MISSING),
        (Verdict.STALE, PUT_BACK, Verdict.STALE),
        (Verdict.NONDETERMINISTIC, OUTSIDE, Verdict.WORK_MISSING),
    ],
)
def test_a_line_that_a_graph_leaves_out_or_freezes_is_to_blame(
    verdict: Verdict, hazard: Hazard, then: Verdict
) -> None:
    outcome = blaming(Outcome(verdict), [READ, hazard])

    assert (outcome.verdict, outcome.places) == (then, (LINE,))
    assert (outcome.operation, outcome.certainty) == (hazard.operation, Certainty.LIKELY)


@pytest.mark.parametrize(
    ("verdict", "hazard"),
    [(Verdict.STALE, READ), (Verdict.NONDETERMINISTIC, READ), (Verdict.NONDETERMINISTIC, PUT_BACK)],
)
def test_other_hazards_leave_the_outcome_as_it_is(verdict: Verdict, hazard: Hazard) -> None:
    assert blaming(Outcome(verdict), [hazard]) == Outcome(verdict)
