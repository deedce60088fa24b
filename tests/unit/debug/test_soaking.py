"""More replays after a pass: what differs late, what raises late, what goes on after a kill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.engine import judge
from capturelint.debug.events import Event, Judged
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.verdict import Report, Verdict

if TYPE_CHECKING:
    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession

B, D = 2, 4
REPLAYS, SOAK = 2, 40
LATE = 30  # the step that something happens in


def inputs(seed: int) -> torch.Tensor:
    return torch.randn(B, D, generator=torch.Generator().manual_seed(seed))


class Switches(nn.Module):
    """Computes something else after so many calls."""

    def __init__(self, most: int = 25) -> None:
        super().__init__()
        self.calls = 0
        self.most = most

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        scale = 2.0 if self.calls > self.most else 1.0
        return x * scale


class Sums(nn.Module):
    """Keeps a sum over all calls on the device."""

    total: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(D))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x.sum(0))
        return x + self.total


class Reads(nn.Module):
    """Adds a row of a table that is made anew when half of it is used."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.zeros(2 * LATE, D)
        self.place = torch.zeros((), dtype=torch.long)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.table.index_select(0, self.place.view(1))


def growing() -> Case:
    module = Reads()

    def prepare(step: int) -> None:
        if module.table.device.type != "cuda":
            module.table, module.place = module.table.cuda(), module.place.cuda()
        if step == LATE:
            module.table = torch.ones(2 * LATE, D, device="cuda")
        module.place.fill_(step)

    return Case(module, inputs, prepare=prepare)


def raising() -> Case:
    def prepare(step: int) -> None:
        if step == LATE:
            raise IndexError("the table is full")

    return Case(nn.Linear(D, D), inputs, prepare=prepare)


def judged(
    backend: Backend,
    make: Any,
    *,
    known: dict[str, Outcome] | None = None,
    told: list[Event] | None = None,
    **chosen: Any,
) -> Report:
    def load() -> Case:
        made = make()
        return made if isinstance(made, Case) else Case(made, inputs)

    settings = Settings(**{"replays": REPLAYS, "soak": SOAK, **chosen})
    emit = ([] if told is None else told).append
    return judge(load, backend, settings, known=known or {}, emit=emit)


class Holder:
    """Holds a tensor where no module registers it."""

    def __init__(self) -> None:
        self.late = torch.zeros(D, device="cuda")


class WritesLate(nn.Module):
    """Writes in its later calls alone what each call adds."""

    def __init__(self) -> None:
        super().__init__()
        self.holder = Holder()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        if self.calls > LATE:
            self.holder.late += 1
        return x + self.holder.late


def test_a_late_write_is_put_back_before_the_replays(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, WritesLate)

        assert report.verdict is Verdict.STALE
        assert report.culprits[0].evidence.replay == LATE + 1

    in_session(body)


def test_what_stays_equal_is_said_with_the_number_of_replays(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Sums)

        assert report.verdict is Verdict.EQUAL
        assert "soak: 40 more replays of the case on new inputs equal eager" in report.notes
        assert report.timings["forwards"] <= 20 + 2 * SOAK + 2

    in_session(body)


@pytest.mark.parametrize("soak", [0, SOAK])
def test_what_prepare_alone_changes_is_no_matter_of_calls(soak: int, in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        kept: list[int] = []

        def prepare(step: int) -> None:
            kept.append(step)

        def make() -> Case:
            return Case(Sums(), inputs, prepare=prepare)

        report = judged(backend, make, soak=soak)

        assert report.verdict is Verdict.EQUAL
        assert not any("each call changes" in note for note in report.notes), report.notes

    in_session(body)


def test_what_changes_without_effect_is_told_with_all_steps(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Switches(most=999))

        assert report.verdict is Verdict.EQUAL
        assert any("nothing came of it in 43 steps" in note for note in report.notes)

    in_session(body)


def test_a_late_difference_is_told_with_its_replay_and_line(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Switches)
        (culprit,) = report.culprits
        assert culprit.place is not None

        assert report.verdict is Verdict.STALE
        assert culprit.place.source in ("self.calls += 1", "return x * scale")
        assert culprit.evidence.replay is not None
        assert REPLAYS + 1 < culprit.evidence.replay < REPLAYS + SOAK

    in_session(body)


def test_each_stretch_is_compared_with_what_was_captured(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        # The first step of the second stretch is the first that differs.
        report = judged(backend, lambda: Switches(most=19))
        (culprit,) = report.culprits
        values = [(one.before, one.after) for one in culprit.evidence.frozen]

        assert culprit.evidence.replay == REPLAYS + 2 + 16
        assert ("1.0", "2.0") in values

    in_session(body)


def test_what_is_prepared_in_other_memory_is_told_at_its_step(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, growing)

        assert report.verdict is Verdict.STALE
        assert report.culprits[0].evidence.replay == LATE + 1

    in_session(body)


def test_what_raises_late_says_how_far_it_was(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, raising)
        (why,) = [one.why for one in report.modules if one.path == ""]

        assert (report.verdict, report.exit_code) == (Verdict.UNDECIDED, 4)
        assert why.startswith("soak: after 16 of 40 more replays: ")
        assert "the table is full" in why

    in_session(body)


def outcomes(backend: Backend, make: Any) -> dict[str, Outcome]:
    """Return what each step of a run comes to."""
    told: list[Event] = []
    judged(backend, make, told=told)
    return {one.step: one.outcome for one in told if isinstance(one, Judged)}


def test_a_soak_that_was_killed_begins_anew_and_finds_the_same(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        found = outcomes(backend, Switches)
        soaked = [step for step in found if step.startswith("soak")]
        known = {step: found[step] for step in found if step not in soaked[1:]}
        told: list[Event] = []
        report = judged(backend, Switches, known=known, told=told)
        (culprit,) = report.culprits

        assert soaked == ["soak  4 to 19", "soak  20 to 35"]
        assert [one.step for one in told if isinstance(one, Judged)] == soaked
        assert report.verdict is Verdict.STALE
        assert culprit.evidence == found[soaked[-1]].evidence

    in_session(body)


def test_a_soak_that_a_process_died_in_counts_what_came_before(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        found = outcomes(backend, Sums)
        died = Outcome(Verdict.UNDECIDED, why="killed by SIGKILL")
        known = {**found, "soak  20 to 35": died}
        del known["soak  36 to 43"]
        told: list[Event] = []
        report = judged(backend, Sums, known=known, told=told)
        (why,) = [one.why for one in report.modules if one.path == ""]

        assert why == "soak: after 16 of 40 more replays: killed by SIGKILL"
        assert not [one for one in told if isinstance(one, Judged)]
        assert not any(note.startswith("soak") for note in report.notes)

    in_session(body)


def test_a_soak_that_came_to_its_end_is_not_made_again(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        told: list[Event] = []
        report = judged(backend, Sums, known=outcomes(backend, Sums), told=told)
        notes = [note for note in report.notes if note.startswith("soak")]

        assert not [one for one in told if isinstance(one, Judged)]
        assert report.verdict is Verdict.EQUAL
        assert len(notes) == 2
        assert "an earlier process made all of these" in notes[1]

    in_session(body)


def test_what_does_not_pass_is_not_soaked(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        class Counts(Switches):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                self.calls += 1
                return x * self.calls

        report = judged(backend, Counts)

        assert report.verdict is Verdict.STALE
        assert "soak: the case is not replayed more often, as it does not pass" in report.notes

    in_session(body)


@pytest.mark.parametrize(("option", "pad"), [("--soak", False), ("--pad", True)])
def test_without_a_warm_up_there_is_nothing_after_it(
    option: str, pad: bool, in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        with pytest.raises(CaseError, match=option):
            judged(backend, Sums, warmup=0, pad=pad)

    in_session(body)
