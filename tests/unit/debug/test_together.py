"""Callables that are captured in order into one pool: what one leaves for the next, and for later."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.cases.case import Case
from capturelint.debug.engine import judge
from capturelint.debug.outcome import Outcome, decided
from capturelint.debug.settings import Settings
from capturelint.debug.together import Together, is_worth_running
from capturelint.verdict import Report, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from capturelint.debug.backend import Backend
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession

WIDTH = 4


def inputs(seed: int) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return {name: torch.randn(2, WIDTH, generator=generator) for name in ("first", "second")}


def judged(backend: Backend, load: Callable[[], Case], **chosen: Any) -> Report:
    return judge(load, backend, Settings(**chosen), known={}, emit=lambda _: None)


def verdicts(report: Report) -> dict[str, Verdict]:
    return {one.path: one.verdict for one in report.modules}


class Leaves(nn.Module):
    """Leaves what it computes in `box`."""

    def __init__(self, box: dict[str, Any]) -> None:
        super().__init__()
        self.box = box

    def forward(self, x: Tensor) -> Tensor:
        y = x * 2
        self.box["kept"] = y
        return y


def of_two(second: Callable[[dict[str, Any]], nn.Module], **options: Any) -> Case:
    box: dict[str, Any] = {"kept": torch.zeros(2, WIDTH, device="cuda"), "flag": False}
    return Case({"first": Leaves(box), "second": second(box)}, inputs, **options)


class Takes(Leaves):
    def forward(self, x: Tensor) -> Tensor:
        return x + self.box["kept"]


def test_callables_that_pass_are_run_in_order_once_more(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        report = judged(backend, lambda: of_two(Takes), replays=3)

        assert verdicts(report) == {"first": Verdict.EQUAL, "second": Verdict.EQUAL}
        assert report.timings["attempts"] == 4  # each alone, each together
        # 2 warm-ups and a dry pass; alone 1 warm-up, a capture, 4 eager runs and replays; together
        # a capture, 5 eager runs and replays
        assert report.timings["forwards"] == 2 * (3 + 10 + 11)

    in_session(body)


def test_one_callable_that_nothing_is_prepared_for_is_judged_alone(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        report = judged(backend, lambda: Case(nn.ReLU(), lambda seed: inputs(seed)["first"]))

        assert report.timings["attempts"] == 1

    in_session(body)


class Tells(Leaves):
    def forward(self, x: Tensor) -> Tensor:
        self.box["flag"] = torch.cuda.is_current_stream_capturing()
        return x * 2


class Reads(Leaves):
    def forward(self, x: Tensor) -> Tensor:
        return x * x.sum().item() if self.box["flag"] else x * 2


def test_what_is_refused_only_after_the_others_fails_together(in_session: InSession) -> None:
    def load() -> Case:
        box: dict[str, Any] = {"flag": False}
        return Case({"first": Tells(box), "second": Reads(box)}, inputs)

    def body(backend: SimulatedBackend) -> None:
        report = judged(backend, load)
        (culprit,) = report.culprits

        assert verdicts(report) == {"first": Verdict.EQUAL, "second": Verdict.FAILS_TOGETHER}
        assert (culprit.module, report.exit_code) == ("second", 1)
        assert culprit.place is not None
        assert culprit.place.source.startswith("return x * x.sum().item()")

    in_session(body)


class Chooses(Leaves):
    """Gives another result once the other was captured, for a reason that no tensor tells."""

    def forward(self, x: Tensor) -> Tensor:
        return x * 3 if self.box["flag"] and torch.cuda.is_current_stream_capturing() else x * 2


def test_what_differs_for_no_known_reason_names_all_that_ran(in_session: InSession) -> None:
    def load() -> Case:
        box: dict[str, Any] = {"flag": False}
        return Case({"first": Tells(box), "second": Chooses(box)}, inputs)

    def body(backend: SimulatedBackend) -> None:
        report = judged(backend, load)
        (culprit,) = report.culprits

        assert verdicts(report)["second"] is Verdict.FAILS_TOGETHER
        assert (culprit.place, culprit.evidence.together) == (None, ("first", "second"))
        assert culprit.evidence.replay == 1

    in_session(body)


class Prepares:
    """Hands the output before the last to the first callable."""

    def __init__(self, box: dict[str, Any], hint: Tensor) -> None:
        self.box = box
        self.hint = hint
        self.before: Tensor | None = None

    def __call__(self, _: int) -> None:
        if self.before is not None:
            self.hint.copy_(self.before)
        self.before = self.box["kept"]


class Hinted(nn.Module):
    def __init__(self, hint: Tensor) -> None:
        super().__init__()
        self.hint = hint

    def forward(self, x: Tensor) -> Tensor:
        return x + self.hint


def kept_too_long() -> Case:
    hint = torch.zeros(2, WIDTH, device="cuda")
    box: dict[str, Any] = {"kept": torch.zeros(2, WIDTH, device="cuda")}
    made = {"first": Hinted(hint), "second": Leaves(box)}
    return Case(made, inputs, prepare=Prepares(box, hint))


def test_the_callable_whose_output_is_lost_is_blamed_where_it_is_read(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        report = judged(backend, kept_too_long)
        (culprit,) = report.culprits

        assert verdicts(report)["second"] is Verdict.OVERWRITTEN
        assert (culprit.module, culprit.evidence.together) == ("second", ())
        assert culprit.place is not None
        assert culprit.place.source == "self.hint.copy_(self.before)"
        assert "`second`" in culprit.message
        assert "its next replay" in culprit.message

    in_session(body)


class Pooled:
    """A graph in whose memory that of the one captured after it lies as well."""

    def __init__(self, graph: Any, after: list[Any]) -> None:
        self._graph = graph
        self._after = after
        self.output = graph.output
        self.is_empty = graph.is_empty

    def replay(self) -> None:
        self._graph.replay()
        for other in self._after[self._after.index(self) + 1 :]:
            for output in other.output:
                output.fill_(7)

    def unowned(self) -> None:
        return None

    def close(self) -> None:
        self._graph.close()


def test_the_replay_that_takes_the_memory_over_is_named(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        capture, graphs = backend.capture, []  # type: ignore[var-annotated]  # of this test

        def pooled(call: Callable[[], object]) -> Any:
            graphs.append(Pooled(capture(call), graphs))
            return graphs[-1]

        backend.capture = pooled  # type: ignore[method-assign]  # to share memory
        report = judged(backend, kept_too_long)
        (culprit,) = report.culprits

        assert (culprit.module, culprit.evidence.together) == ("second", ("second", "first"))
        assert "the next replay of `first`" in culprit.message

    in_session(body)


def test_only_what_can_be_compared_is_run_together() -> None:
    equal, stale, refuses = Verdict.EQUAL, Verdict.STALE, Verdict.REFUSES

    assert is_worth_running([equal, Verdict.ALIASES_INPUT], is_prepared=False)
    assert not is_worth_running([equal], is_prepared=True)
    assert is_worth_running([stale], is_prepared=True)
    assert not is_worth_running([stale, equal], is_prepared=False)
    assert not is_worth_running([equal, refuses], is_prepared=True)


def test_a_stale_one_stays_so_unless_together_says_why_or_passes() -> None:
    passes, stale = Outcome(Verdict.EQUAL), Outcome(Verdict.STALE)
    fails, overwritten = Outcome(Verdict.FAILS_TOGETHER), Outcome(Verdict.OVERWRITTEN)
    settled = Outcome(Verdict.STALE, is_settled=True)
    aliases = Outcome(Verdict.ALIASES_INPUT)

    assert decided(passes, stale) is passes
    assert decided(overwritten, stale) is overwritten
    assert decided(fails, stale) is stale
    assert decided(fails, passes) is fails
    assert decided(passes, aliases) is aliases
    assert decided(passes, settled) is settled


def test_a_stale_one_is_undecided_where_together_is() -> None:
    unknown = Outcome(Verdict.UNDECIDED, why="killed by SIGKILL")
    found = decided(unknown, Outcome(Verdict.STALE))

    assert found.verdict is Verdict.UNDECIDED
    assert found.why.startswith("it is stale alone")
    assert found.why.endswith(": killed by SIGKILL")
    assert decided(unknown, Outcome(Verdict.STALE, is_settled=True)).verdict is Verdict.STALE


class Hands(nn.Module):
    """Adds what was handed over, and keeps what it returns."""

    def __init__(self) -> None:
        super().__init__()
        self.hint = self.kept = torch.zeros(2, WIDTH, device="cuda")
        self.hint = self.hint.clone()

    def forward(self, x: Tensor) -> Tensor:
        y = x * 2 + self.hint
        self.kept = y
        return y


def of_last_outputs() -> Case:
    """Return a case of two callables that are given their last output, as is right."""
    made = {"first": Hands(), "second": Hands()}

    def prepare(_: int) -> None:
        for one in made.values():
            one.hint.copy_(one.kept)

    return Case(dict(made), inputs, prepare=prepare)


def test_none_that_is_stale_alone_passes_where_the_run_together_breaks_off(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        whole = judged(backend, of_last_outputs, replays=3)
        known = {"together first": Outcome(Verdict.UNDECIDED, why="died")}
        broken = judge(
            of_last_outputs, backend, Settings(replays=3), known=known, emit=lambda _: None
        )
        assert verdicts(whole) == {"first": Verdict.EQUAL, "second": Verdict.EQUAL}
        assert verdicts(broken) == {"first": Verdict.UNDECIDED, "second": Verdict.EQUAL}
        assert broken.exit_code == 4

    in_session(body)


def test_the_run_together_acquits_only_what_it_compared_to_the_end() -> None:
    flow: Any = None  # the outcomes are known
    outcomes = {"first": Outcome(Verdict.UNDECIDED, why="two eager runs differ")}
    found = Together(flow, Tolerance(None, None), frozenset({"second"}), outcomes)

    assert found.outcome("second").why == "two eager runs differ"
    assert found.outcome("second").verdict is Verdict.UNDECIDED
    assert found.outcome("third").verdict is Verdict.EQUAL
