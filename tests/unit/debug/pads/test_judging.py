"""What a whole run says of pad rows: who is to blame, what cannot be told, what is a mistake."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.engine import judge
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.finding import Effect
from capturelint.report import bisect_text
from capturelint.verdict import Certainty, Report, Verdict

if TYPE_CHECKING:
    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession

B, D = 4, 6


def inputs(seed: int) -> torch.Tensor:
    return torch.randn(B, D, generator=torch.Generator().manual_seed(seed))


class Centers(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x - x.mean(0)  # centers


class Both(nn.Module):
    """Lets pad rows in by a line of its own, before and after a module that does so too."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Centers()
        self.last = nn.Linear(D, D)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.inner(x) * 2
        y = y / x.abs().amax(0)  # own
        return self.last(y)


class Before(nn.Module):
    """Lets pad rows in by a line of its own, whose result goes to a module that does so too."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Centers()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x / x.abs().amax(0)  # own
        z: torch.Tensor = self.inner(y)
        return z


class Reads(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x[0].sum().item()


class Checks(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        assert not bool(x.isnan().any()), "NaN"
        return x * 2


class Products(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ x.T


class Constant(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.new_ones(3)


class Noisy(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + random.SystemRandom().random()


class Masks(nn.Module):
    def forward(self, x: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
        return x + (x * valid).sum(0)


def judged(
    backend: Backend, module: Any, make: Any = inputs, dims: Any = 0, **chosen: Any
) -> Report:
    def load() -> Case:
        return Case(module, make, batch_dims=dims)

    settings = Settings(replays=1, pad=True, **chosen)
    return judge(load, backend, settings, known={}, emit=lambda _: None)


def blamed(report: Report) -> list[tuple[str, str]]:
    comments = ["" if one.place is None else one.place.source for one in report.culprits]
    modules = [one.module for one in report.culprits]
    return list(zip(modules, [text.partition("# ")[2] for text in comments], strict=True))


def why(report: Report) -> str:
    return next(one.why for one in report.modules if one.path == "")


def test_every_module_that_leaks_is_named(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, nn.Sequential(Centers(), nn.ReLU(), Centers()))

        assert blamed(report) == [("0", "centers"), ("2", "centers")]
        assert report.exit_code == 1

    in_session(body)


@pytest.mark.parametrize("make", [Both, Before])
def test_own_lines_are_told_from_those_of_a_module_inside(
    make: type[nn.Module], in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, make())

        assert blamed(report) == [("inner", "centers"), ("", "own")]

    in_session(body)


def test_pads_are_judged_where_a_capture_is_refused(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, nn.Sequential(Reads(), Centers()))
        effects = [(one.module, one.effect) for one in report.culprits]

        assert report.verdict is Verdict.REFUSES
        assert effects == [("0", Effect.REFUSES), ("1", Effect.LEAKS)]

    in_session(body)


def test_without_batch_dims_nothing_can_be_told(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Centers(), dims=None)

        assert (report.verdict, report.exit_code) == (Verdict.UNDECIDED, 4)
        assert "give batch_dims" in why(report)

    in_session(body)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (("x=0",), ""),
        (("0", "x=0"), "give it alone"),
        (("x",), "--batch-dim is 'x'; it must be a dimension such as 0, or x=0"),
        (("y=0",), "batch_dims names 'y'; the inputs are x"),
    ],
)
def test_batch_dims_may_be_said_beside_the_case(
    said: tuple[str, ...], words: str, in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        if not words:
            report = judged(backend, Centers(), dims=None, batch_dim=said)
            assert blamed(report) == [("", "centers")]
            return
        with pytest.raises(CaseError) as error:
            judged(backend, Centers(), dims=None, batch_dim=said)

        assert words in str(error.value)

    in_session(body)


def one_row(seed: int) -> torch.Tensor:
    return inputs(seed)[:1]


def some_rows(seed: int, batch_size: int = 1) -> torch.Tensor:
    return inputs(seed)[:batch_size]


def test_one_row_is_no_batch_unless_inputs_can_be_made_of_more(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        one = judged(backend, Centers(), one_row)
        more = judged(backend, Centers(), some_rows)

        assert (one.verdict, more.verdict) == (Verdict.UNDECIDED, Verdict.PADS)
        assert "the batch has one row" in why(one)
        assert blamed(more) == [("", "centers")]

    in_session(body)


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        (Constant(), "no output has a batch dimension"),
        (Checks(), "with NaN in the pad rows it raises"),
        (Products(), "which of it belongs to real rows cannot be told"),
    ],
)
def test_what_cannot_be_told_says_why(
    module: nn.Module, reason: str, in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, module)
        pads = [one.why for one in report.modules if one.why.startswith("pad rows: ")]

        assert report.culprits == () or report.verdict is not Verdict.PADS
        assert Verdict.PADS not in [one.verdict for one in report.modules]
        if report.verdict is Verdict.UNDECIDED:
            assert reason in pads[0]

    in_session(body)


def test_what_eager_runs_differ_by_is_no_leak(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Noisy())
        told = [one.why for one in report.modules if one.why]

        assert told == [] or "differ in `result` by themselves" in told[0]
        assert Effect.LEAKS not in [one.effect for one in report.culprits]

    in_session(body)


class Flags(nn.Module):
    broken: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("broken", torch.zeros((), dtype=torch.bool))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.broken |= x.isnan().any()
        return x * 2


def test_a_flag_that_no_step_reads_is_undecided(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Flags())

        assert (report.verdict, report.culprits) == (Verdict.UNDECIDED, ())
        assert "whether other code reads it is not known" in why(report)

    in_session(body)


class Coupled(nn.Module):
    """Takes rows whose `end` is that of their `start` alone."""

    def forward(self, start: torch.Tensor, end: torch.Tensor) -> torch.Tensor:
        if bool((end - start != 1).any()):
            raise ValueError("a row ends before it starts")
        return start + end


def test_rows_put_together_of_several_may_raise(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def pairs(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
            starts = torch.randint(50, (B,), generator=torch.Generator().manual_seed(seed))
            return starts, starts + 1

        report = judged(backend, Coupled(), pairs)

        assert [one.why for one in report.modules if one.why.startswith("pad rows")] == []
        assert any("are left out: with" in note for note in report.notes), report.notes

    in_session(body)


class Unbinds(nn.Module):
    def forward(self, x: torch.Tensor) -> list[torch.Tensor]:
        return list((x * 2).unbind())


def test_a_list_of_rows_follows_the_batch(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        apart = judged(backend, Unbinds())
        mixed = judged(backend, nn.Sequential(Centers(), Unbinds()))

        assert apart.verdict is Verdict.EQUAL
        assert blamed(mixed) == [("0", "centers")]

    in_session(body)


def test_a_leak_of_nan_alone_has_a_cure_of_its_own(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        valid = torch.tensor([[1.0], [1.0], [0.0], [0.0]])
        report = judged(backend, Masks(), lambda seed: (inputs(seed), valid), {"x": 0})
        (culprit,) = report.culprits
        text = bisect_text.render(report)

        assert culprit.evidence.fills == ("Inf", "NaN")
        assert "moved by: Inf, NaN in the pad rows" in text
        assert "next: NaN times 0 is NaN" in text
        assert "the last 2 of 4 rows are pad rows" in text

    in_session(body)


def test_each_callable_is_judged(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        callables = {"draft": nn.Linear(D, D), "target": Centers()}

        def both(seed: int) -> dict[str, torch.Tensor]:
            return {"draft": inputs(seed), "target": inputs(seed)}

        report = judged(backend, callables, both, {"target.x": 0, "draft.input": 0})

        assert blamed(report) == [("target", "centers")]

    in_session(body)


@pytest.mark.parametrize(
    ("dims", "words"),
    [
        ({"y": 0}, "batch_dims names 'y'; the inputs are x"),
        ({"x": 2}, "the input `x` has no dimension 2"),
        (3, "batch_dims=3: inputs have 2 dimensions at most"),
    ],
)
def test_batch_dims_that_do_not_fit_are_a_mistake(
    dims: object, words: str, in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        with pytest.raises(CaseError, match="batch_dims") as error:
            judged(backend, Centers(), dims=dims)

        assert words in str(error.value)

    in_session(body)


def test_an_input_whose_dimension_is_none_has_no_rows(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def two(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
            return inputs(seed), torch.ones(3)

        report = judged(backend, Masks2(), two, {"x": 0, "valid": None})
        nothing = judged(backend, Masks2(), two, {"valid": None})

        assert report.verdict is Verdict.EQUAL
        assert nothing.verdict is Verdict.UNDECIDED

    in_session(body)


@pytest.mark.parametrize("option", ["modules", "skip"])
def test_pad_rows_go_through_the_whole_case(option: str, in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        module = nn.Sequential(Centers(), nn.Tanh())
        with pytest.raises(CaseError, match=f"pad rows .* the whole case; drop --{option}"):
            judged(backend, module, **{option: ("0",)})

    in_session(body)


def test_batch_dims_of_several_sizes_are_a_mistake(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def two(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
            return inputs(seed), inputs(seed)[:3]

        with pytest.raises(CaseError, match="has 4 rows and `valid` has 3"):
            judged(backend, Masks2(), two)

    in_session(body)


class Masks2(nn.Module):
    def forward(self, x: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
        return x + valid.sum()


def ordered(seed: int) -> torch.Tensor:
    """Return rows that rise by the first column, or fall in every second step."""
    x = inputs(seed)
    x[:, 0] = torch.arange(B) * (-1) ** seed
    return x


class SortsAround(nn.Module):
    """Sorts rows for `inner` and puts them back."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = Centers()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        order = x[:, 0].argsort()
        y = self.inner(x[order])
        return torch.empty_like(y).index_copy_(0, order, y)


def test_a_module_that_sorts_rows_for_one_that_leaks_is_not_blamed(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, SortsAround(), ordered)

        assert blamed(report) == [("inner", "centers")]
        assert any("puts rows into another order" in note for note in report.notes), report.notes

    in_session(body)


class Turns(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.flip(0) * 2  # turns


def test_rows_that_stay_in_another_order_are_likely_to_be_it(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Turns())

        assert blamed(report) == [("", "turns")]
        assert [one.certainty for one in report.culprits] == [Certainty.LIKELY]

    in_session(body)


class MixesInOrder(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x[x[:, 0].argsort()]
        return y / y.norm()  # in order


def test_a_line_that_mixes_rows_in_another_order_is_likely(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, MixesInOrder(), ordered)

        assert blamed(report) == [("", "in order")]
        assert [one.certainty for one in report.culprits] == [Certainty.LIKELY]

    in_session(body)


class AsksOnTheHost(nn.Module):
    def forward(self, x: torch.Tensor, full: torch.Tensor) -> torch.Tensor:
        return x * 2 if bool(full.all()) else x  # asks


def test_a_choice_on_the_host_is_a_leak_where_real_rows_alone_would_not_decide(
    in_session: InSession,
) -> None:
    def body(backend: Backend) -> None:
        def some_full(seed: int) -> tuple[torch.Tensor, torch.Tensor]:
            return inputs(seed), torch.tensor([False, True, False, True])

        report = judged(backend, AsksOnTheHost(), some_full)
        leaks = [one for one in report.culprits if one.effect is Effect.LEAKS]

        assert [one.place and one.place.source for one in leaks] == [
            "return x * 2 if bool(full.all()) else x  # asks"
        ]
        assert leaks[0].evidence.fills == ("False next to True in `full`",)

    in_session(body)


class ScalesByAll(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x.float()
        return y / y.abs().amax().clamp(min=50.0)  # scales


class CountsTokens(nn.Module):
    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return ids / (ids != 0).sum()  # counts


def in_float8(seed: int) -> torch.Tensor:
    return inputs(seed).to(torch.float8_e4m3fn)


def ids(seed: int) -> torch.Tensor:
    return torch.randint(1, 9, (B, D), generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("module", "make", "fills"),
    [
        (ScalesByAll(), in_float8, ("the largest float8", "NaN in float8")),
        (CountsTokens(), ids, ("the integer 0",)),
    ],
)
def test_what_usual_rows_never_show_is_among_the_fills(
    module: nn.Module, make: Any, fills: tuple[str, ...], in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        (culprit,) = judged(backend, module, make).culprits

        assert culprit.evidence.fills == fills

    in_session(body)


def test_a_death_while_calls_are_recorded_is_undecided(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def load() -> Case:
            return Case(nn.Sequential(nn.Tanh(), Centers()), inputs, batch_dims=0)

        known = {"pad-record ": Outcome(Verdict.UNDECIDED, why="it died", died=True)}
        settings = Settings(replays=1, pad=True)
        report = judge(load, backend, settings, known=known, emit=lambda _: None)

        assert (report.verdict, report.culprits) == (Verdict.UNDECIDED, ())
        assert "the process died while what it calls was recorded" in why(report)

    in_session(body)


@pytest.mark.parametrize(
    ("step", "module", "blame"),
    [
        ("pad-record 0", nn.Sequential(nn.Sequential(nn.Tanh(), Centers())), ("0", "centers")),
        ("pad 1", nn.Sequential(nn.Tanh(), Centers()), ("1", "")),
    ],
)
def test_a_death_inside_keeps_the_blame(
    step: str, module: nn.Module, blame: tuple[str, str], in_session: InSession
) -> None:
    def body(backend: Backend) -> None:
        known = {step: Outcome(Verdict.UNDECIDED, why="it died", died=True)}
        settings = Settings(replays=1, pad=True)
        report = judge(
            lambda: Case(module, inputs, batch_dims=0),
            backend,
            settings,
            known=known,
            emit=lambda _: None,
        )

        assert (report.verdict, blamed(report)) == (Verdict.PADS, [blame])

    in_session(body)
