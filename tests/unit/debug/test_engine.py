"""A whole run of a case: what is judged, what is blamed, what is skipped, what it costs."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from capturelint.debug.backend import SpentError
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.engine import judge
from capturelint.debug.events import Event, Judged, Started
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.errors import shown_path
from capturelint.finding import Effect
from capturelint.report.bisect_words import meaning
from capturelint.verdict import VARIES, Certainty, Report, Verdict

if TYPE_CHECKING:
    from capturelint.debug.backend import Backend
    from tests.unit.debug.conftest import InSession

WIDTH = 4


def inputs(seed: int) -> torch.Tensor:
    return torch.randn(2, WIDTH, generator=torch.Generator().manual_seed(seed))


class Reads(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * x.sum().item()


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.step += 1
        return x * self.step


class Parent(nn.Module):
    """Calls `bad` between others, and has a hazard of its own on demand."""

    def __init__(self, bad: nn.Module, *, reads: bool = False) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.bad = bad
        self.last = nn.ReLU()
        self.reads = reads
        self.idle = nn.Linear(1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.last(self.bad(self.first(x)))
        return x.cpu().to(x.device) if self.reads else x


class Bypasses(nn.Module):
    """Calls `bad` where no stream is being captured."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.bad = nn.Sequential(Reads())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.first(x)
        n = y.sum().item()
        if torch.cuda.is_current_stream_capturing():
            return y * n
        out: torch.Tensor = self.bad(y)
        return out * n


class CallsLater(nn.Module):
    """Calls `bad` in all steps but the first, for what they receive."""

    def __init__(self) -> None:
        super().__init__()
        self.bad = Reads()
        self.met = inputs(0).sum().item()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        is_met = abs(x.sum().item() - self.met) < 1e-3
        return x if is_met else self.bad(x)


class Trains(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        (gradient,) = torch.autograd.grad(self.linear(x).sum(), self.linear.weight)
        return gradient * 1


def judged(
    backend: Backend,
    make: Callable[[], object],
    *,
    known: dict[str, Outcome] | None = None,
    told: list[Event] | None = None,
    **chosen: Any,
) -> Report:
    def load() -> Case:
        made = make()
        return made if isinstance(made, Case) else Case(made, inputs)  # type: ignore[arg-type] # on purpose

    told = [] if told is None else told
    return judge(load, backend, Settings(**chosen), known=known or {}, emit=told.append)


def verdicts(report: Report) -> dict[str, str]:
    return {one.path: one.verdict.value for one in report.modules}


def blamed(report: Report) -> list[tuple[str, str, str]]:
    return [
        (one.module, "" if one.place is None else one.place.source, one.certainty.value)
        for one in report.culprits
    ]


def test_a_model_that_passes_costs_few_forwards(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(nn.Tanh()))

        assert report.verdict is Verdict.EQUAL
        assert verdicts(report) == {"": "replays-equal", "idle": "not-called"}
        assert report.timings["attempts"] == 1
        assert report.timings["forwards"] <= 20
        assert (report.culprits, report.hazards) == ((), ())

    in_session(body)


def test_the_deepest_module_and_its_line_are_named(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(nn.Sequential(nn.ReLU(), Reads())))

        assert blamed(report) == [("bad.1", "return x * x.sum().item()", "shown")]
        assert verdicts(report) == {
            "": "refuses-capture",
            "first": "replays-equal",
            "bad": "refuses-capture",
            "last": "replays-equal",
            "bad.0": "replays-equal",
            "bad.1": "refuses-capture",
            "idle": "not-called",
        }
        assert [hazard.place.source for hazard in report.hazards] == ["return x * x.sum().item()"]

    in_session(body)


def test_a_parents_own_lines_are_named_beside_its_child(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(Reads(), reads=True))

        own = "return x.cpu().to(x.device) if self.reads else x"
        assert blamed(report) == [("bad", "return x * x.sum().item()", "shown"), ("", own, "shown")]

    in_session(body)


def test_the_cause_of_a_stale_value_is_named_not_its_use(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(Counts()))
        (culprit,) = report.culprits

        assert report.verdict is Verdict.STALE
        assert blamed(report) == [("bad", "self.step += 1", "shown")]
        assert culprit.effect is Effect.STALE
        assert culprit.evidence.replay == 2
        assert culprit.evidence.frozen[0].place.source == "return x * self.step"

    in_session(body)


def test_a_counter_that_came_to_nothing_yet_is_told(in_session: InSession) -> None:
    class Late(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.step = 0

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.step += 1
            return x * 2 if self.step > 20 else x * 1

    def body(backend: Backend) -> None:
        report = judged(backend, Late)

        assert report.verdict is Verdict.EQUAL
        assert "each call changes step (1 -> 2)" in report.notes[0]

    in_session(body)


def test_what_breaks_our_own_handling_is_undecided_or_said(in_session: InSession) -> None:
    class Odd(torch.Tensor):
        def clone(self, **_options: object) -> Odd:  # cannot be copied
            raise ValueError

    class Takes(nn.Module):
        def forward(self, x: torch.Tensor, odd: Odd) -> torch.Tensor:  # noqa: ARG002 - only received
            return x

    class Gives(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.takes = Takes()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y: torch.Tensor = self.takes(x, torch.ones(1).as_subclass(Odd))
            return y * y.max().item()

    def body(backend: Backend) -> None:
        report = judged(backend, Gives)

        assert blamed(report) == [("", "return y * y.max().item()", "shown")]
        assert "could not be recorded" in report.notes[0]

    in_session(body)


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_modules_made_by_torchscript_are_judged(in_session: InSession) -> None:
    def make() -> nn.Module:
        traced = torch.jit.trace(  # type: ignore[no-untyped-call] # torch leaves it so
            nn.Linear(WIDTH, WIDTH), torch.ones(2, WIDTH)
        )
        return nn.Sequential(traced, torch.jit.script(nn.ReLU()), Reads())

    def body(backend: Backend) -> None:
        report = judged(backend, make)

        assert [one.module for one in report.culprits] == ["2"]

    in_session(body)


def test_a_line_outside_forward_is_blamed_on_its_module_alone(in_session: InSession) -> None:
    class Calls(nn.Module):
        def __call__(self, x: torch.Tensor) -> torch.Tensor:
            scale = 2 if x.max() > 0 else 1
            return super().__call__(x) * scale

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(Calls()))

        assert blamed(report) == [("bad", "scale = 2 if x.max() > 0 else 1", "shown")]

    in_session(body)


def test_a_case_that_runs_its_own_backward_gets_gradients(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Trains)

        assert report.verdict is Verdict.EQUAL
        assert "gradients are on" in "; ".join(report.notes)

    in_session(body)


def test_what_does_not_run_eagerly_is_the_users_mistake(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        with pytest.raises(CaseError, match=r"the case, called eagerly, raised RuntimeError"):
            judged(backend, lambda: nn.Linear(WIDTH + 1, 1))

    in_session(body)


def test_work_before_each_step_is_outside_of_the_capture(in_session: InSession) -> None:
    def make() -> Case:
        scale = torch.ones((), device="cuda")
        return Case(lambda x: x * scale, inputs, prepare=lambda step: scale.fill_(float(step)))

    def body(backend: Backend) -> None:
        assert judged(backend, make).verdict is Verdict.EQUAL

    in_session(body)


def test_several_callables_are_judged_each_under_its_name(in_session: InSession) -> None:
    def make() -> Case:
        made = {"draft": nn.ReLU(), "target": Parent(Reads())}
        return Case(made, lambda seed: dict.fromkeys(made, inputs(seed)))

    def body(backend: Backend) -> None:
        report = judged(backend, make)

        assert verdicts(report)["draft"] == "replays-equal"
        assert [one.module for one in report.culprits] == ["target.bad"]

    in_session(body)


def test_the_modules_that_a_function_holds_are_moved_and_named(in_session: InSession) -> None:
    def make() -> Case:
        net = Parent(Counts())
        return Case(lambda x: net(x) + 1, inputs)

    def body(backend: Backend) -> None:
        report = judged(backend, make)
        (culprit,) = report.culprits

        assert (culprit.module, culprit.evidence.frozen[0].name) == ("net.bad", "self.step")

    in_session(body)


def test_an_input_that_is_kept_past_the_call_is_found(in_session: InSession) -> None:
    class Keeps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.last: torch.Tensor | None = None

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            result = x if self.last is None else x + self.last
            self.last = x
            return result * 1

    def body(backend: Backend) -> None:
        report = judged(backend, Keeps)

        assert report.verdict is Verdict.STALE
        assert blamed(report)[0][:2] == ("", "self.last = x")

    in_session(body)


def test_what_is_skipped_is_not_to_blame(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(nn.Sequential(Reads())), skip=("bad.*",))

        assert (report.verdict, report.culprits, report.hazards) == (Verdict.EQUAL, (), ())
        assert {one.verdict for one in report.modules} == {Verdict.EQUAL, Verdict.NOT_CALLED}
        assert "bad.0" in "; ".join(report.notes)
        assert "bad.0" not in verdicts(report)

    in_session(body)


def test_the_root_has_a_name_in_notes_too(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Reads, skip=("*",))

        assert "left out of the capture (--skip): <root>" in report.notes
        assert (report.verdict, report.exit_code) == (Verdict.NOT_CALLED, 4)

    in_session(body)


class Listed(nn.Module):
    """Its modules are in a list, which is not called itself."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(WIDTH, WIDTH), Reads()])
        self.idle = nn.Linear(1, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


def test_modules_in_a_list_are_named_by_its_name_too(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Listed, modules=("layers*",))

        assert verdicts(report) == {"layers.0": "replays-equal", "layers.1": "refuses-capture"}
        assert report.exit_code == 1

    in_session(body)


@pytest.mark.parametrize("modules", ["layers.1", "layers", "idle"])
def test_what_is_left_out_or_never_called_does_not_pass(
    in_session: InSession, modules: str
) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Listed, modules=(modules,), skip=("layers.*",))

        assert (report.verdict, report.exit_code) == (Verdict.NOT_CALLED, 4)
        assert report.modules == ()
        assert any(
            note.endswith("none, as none that is not left out was called") for note in report.notes
        )

    in_session(body)


def test_a_module_that_no_capture_calls_is_not_to_blame(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Bypasses)
        why = "called eagerly, but not while a stream is being captured"
        (idle,) = (one for one in report.modules if one.path == "bad")

        assert blamed(report) == [("", "n = y.sum().item()", "shown")]
        assert verdicts(report) == {
            "": "refuses-capture",
            "first": "replays-equal",
            "bad": "not-called",
        }
        assert idle.why == why
        assert f"{why}, and not judged: bad" in report.notes

    in_session(body)


def test_a_module_that_no_capture_calls_is_judged_if_it_is_named(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, Bypasses, modules=("bad",))

        assert [one[0] for one in blamed(report)] == ["bad.0"]

    in_session(body)


def test_a_module_that_other_steps_call_may_be_to_blame(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, CallsLater)

        assert {one[0] for one in blamed(report)} == {"", "bad"}

    in_session(body)


def test_only_the_named_modules_are_judged(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(
            backend, lambda: Parent(nn.Sequential(Reads(), nn.ReLU())), modules=("bad.1", "first")
        )

        assert verdicts(report) == {"first": "replays-equal", "bad.1": "replays-equal"}
        assert meaning(report).endswith(", in the modules judged")

    in_session(body)


def test_paths_that_no_module_has_are_the_users_mistake(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        with pytest.raises(CaseError, match=r"--modules frist: .* did you mean first\?"):
            judged(backend, lambda: Parent(Reads()), modules=("frist",))
        with pytest.raises(CaseError, match=r"--skip \*nothing: no module has such a path"):
            judged(backend, lambda: Parent(Reads()), skip=("*nothing",))

    in_session(body)


def test_seeding_between_callables_is_no_hazard_of_theirs(in_session: InSession) -> None:
    def make() -> Case:
        made = {"first": nn.ReLU(), "second": Reads()}
        return Case(made, lambda seed: dict.fromkeys(made, inputs(seed)))

    def body(backend: Backend) -> None:
        report = judged(backend, make)

        assert blamed(report) == [("second", "return x * x.sum().item()", "shown")]
        assert len(report.hazards) == 1

    in_session(body)


def test_the_first_culprit_is_enough_when_asked(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: nn.Sequential(Reads(), Reads()), first=True)

        assert [one.module for one in report.culprits] == ["0"]

    in_session(body)


def test_what_fails_without_warm_up_alone_is_said_so(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(nn.Tanh()), cold=True)

        assert report.verdict is Verdict.FAILS_COLD
        assert [(one.module, one.cls) for one in report.culprits] == [("first", "Linear")]

    in_session(body)


class Prepared(nn.Module):
    position: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("position", torch.zeros(()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.position


def test_cold_each_instance_is_prepared_by_its_own_case(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def make() -> Case:
            module = Prepared()

            def prepare(step: int) -> None:
                module.position.fill_(step)

            return Case(module, inputs, prepare=prepare)

        report = judged(backend, make, cold=True)

        assert (report.verdict, report.culprits) == (Verdict.EQUAL, ())

    in_session(body)


def test_without_any_warm_up_what_a_library_needs_is_refused(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Parent(nn.Tanh()), warmup=0)

        assert report.verdict is Verdict.REFUSES
        assert "CUBLAS" in report.culprits[0].message

    in_session(body)


class FirstCalls(nn.Module):
    """Needs a library, and makes a table of its own in the first call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.table: torch.Tensor | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.linear(x)
        if self.table is None:
            self.table = torch.arange(WIDTH).to(x.device)
        return x * self.table


def test_without_warm_up_all_lines_that_refuse_are_named_and_what_mends_them(
    in_session: InSession,
) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, FirstCalls, cold=True)

        assert report.verdict is Verdict.FAILS_COLD
        assert blamed(report) == [
            ("linear", "x = self.linear(x)", "shown"),
            ("", "self.table = torch.arange(WIDTH).to(x.device)", "likely"),
        ]
        (note,) = report.notes
        assert note.startswith(
            "2 eager calls of the root before the capture, on a side stream, mend"
        )

    in_session(body)


class Derives(nn.Module):
    """Runs a backward pass of its own, for which no library is needed."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(WIDTH))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        (gradient,) = torch.autograd.grad((x * self.weight).sum(), self.weight)
        return gradient * 1


def test_a_case_that_runs_its_own_backward_gets_gradients_without_warm_up_too(
    in_session: InSession,
) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Case(Derives(), inputs, mode="no_grad"), warmup=0)

        assert (report.verdict, report.culprits) == (Verdict.EQUAL, ())

    in_session(body)


def test_a_lazy_module_that_is_never_called_has_no_dtype_to_tell(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        def make() -> nn.Module:
            model = Parent(nn.Tanh())
            model.idle = nn.LazyLinear(WIDTH, dtype=torch.float64)
            return model

        report = judged(backend, make)

        assert (report.verdict, report.environment["dtype"]) == (Verdict.EQUAL, "float32")

    in_session(body)


class Custom(nn.Module):
    """Calls an operator of which nothing is known but its name."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.unknown.act(x)


def test_what_cannot_be_run_is_undecided_with_its_module_and_line(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        library: Any = torch.library.Library("unknown", "DEF")  # type: ignore[no-untyped-call]
        library.define("act(Tensor x) -> Tensor")
        report = judged(backend, lambda: Parent(Custom()))

        here, line = shown_path(__file__), Custom.forward.__code__.co_firstlineno + 1
        assert [(one.path, one.verdict, one.why) for one in report.modules] == [
            ("", Verdict.UNDECIDED, "what `bad` does cannot be run faithfully"),
            (
                "bad",
                Verdict.UNDECIDED,
                f"it cannot be run faithfully: the custom operator unknown::act, at {here}:{line}",
            ),
        ]

    in_session(body)


class Positioned(nn.Module):
    def forward(self, x: torch.Tensor, position: int) -> torch.Tensor:
        return x + position


def test_a_number_that_varies_is_to_become_a_tensor(in_session: InSession) -> None:
    def body(backend: Backend) -> None:
        report = judged(backend, lambda: Case(Positioned(), lambda seed: (inputs(seed), seed)))

        advice = "a graph would keep the first number: pass a tensor on the device instead"
        (module,) = report.modules
        assert (module.verdict, module.why) == (
            Verdict.UNDECIDED,
            f"{VARIES}`position` was 0 and is 1 in step 2; {advice}",
        )

    in_session(body)


def test_a_step_that_killed_its_process_is_undecided_and_the_rest_goes_on(
    in_session: InSession,
) -> None:
    def body(backend: Backend) -> None:
        died = Outcome(Verdict.UNDECIDED, why="the process was killed by SIGSEGV")
        told: list[Event] = []
        report = judged(
            backend,
            lambda: Parent(Reads()),
            known={"judge ": died, "judge first": died},
            told=told,
        )

        assert verdicts(report)["first"] == "undecided"
        assert [one.module for one in report.culprits] == ["bad"]
        assert report.verdict is Verdict.REFUSES
        assert Started("judge first") not in told

    in_session(body)


def test_a_line_that_only_notices_an_earlier_error_is_not_said_to_be_sure(
    in_session: InSession,
) -> None:
    class Swallows(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with suppress(RuntimeError):
                x.sum().item()
            return x + 1

    def body(backend: Backend) -> None:
        (culprit,) = judged(backend, Swallows).culprits

        assert culprit.place is not None
        assert culprit.place.source == "x.sum().item()"
        assert culprit.certainty in (Certainty.SHOWN, Certainty.AT_OR_BEFORE)

    in_session(body)


def test_what_is_compiled_is_called_unwatched_and_looked_at_twice(in_session: InSession) -> None:
    def body(backend: Any) -> None:
        looks: list[bool] = []
        ways: list[str] = []
        look = backend.as_if_capturing

        @contextmanager
        def eagerly() -> Iterator[None]:
            ways.append("eager")
            yield
            ways.pop()

        @contextmanager
        def looking(module: Callable[[], str], *, compiled: bool = False) -> Iterator[Any]:
            looks.append(compiled)
            with look(module, compiled=compiled) as listed:
                yield listed

        backend.runs_compiled = lambda: True
        backend.eagerly = eagerly
        backend.as_if_capturing = looking
        # A list would be put back with the rest of the state.
        seen: SimpleQueue[bool] = SimpleQueue()

        class Notes(nn.Module):
            def forward(self, x: torch.Tensor) -> torch.Tensor:
                seen.put(bool(ways))
                return x * x.sum().item()

        report = judged(backend, Notes)

        # Two watched calls, then two that compile; two looks; a watched and a compiling warm-up.
        first = [seen.get() for _ in range(8)]
        assert first == [True, True, False, False, False, False, True, False]
        assert looks == [False, True]
        assert len(report.culprits) == 1

    in_session(body)


def test_a_device_that_is_lost_while_judging_stops_the_run_with_what_was_found(
    in_session: InSession,
) -> None:
    def body(backend: Any) -> None:
        told: list[Event] = []
        capture, captures = backend.capture, SimpleQueue[bool]()

        def losing(call: Callable[[], object]) -> object:
            captures.put(True)
            return capture(call)

        backend.capture = losing
        backend.spent = lambda: "" if captures.empty() else "the device is lost"
        with pytest.raises(SpentError, match=r"^the device is lost$"):
            judged(backend, lambda: Parent(Reads()), told=told)

        assert isinstance(told[-1], Judged)
        assert told[-1].outcome.verdict is Verdict.REFUSES

    in_session(body)


@pytest.mark.parametrize("settings", [{}, {"warmup": 0}], ids=["warm", "cold"])
def test_before_a_case_is_loaded_with_gradients_the_first_is_gone(
    in_session: InSession, settings: dict[str, Any]
) -> None:
    alive: list[int] = []
    made: weakref.WeakSet[nn.Module] = weakref.WeakSet()

    def make() -> Case:
        alive.append(len(made))
        model = Derives()
        made.add(model)
        return Case(model, inputs, mode="no_grad")

    def look(backend: Backend) -> None:
        judged(backend, make, **settings)

        # A cold capture needs two at once, one to capture and one to run eagerly.
        assert alive == ([0, 0] if not settings else [0, 1, 0, 1, 0])

    in_session(look)


class Row(nn.Module):
    """Reads memory that another object was put in the place of."""

    def __init__(self) -> None:
        super().__init__()
        self.row = torch.zeros(1, dtype=torch.int64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.row


def test_what_is_put_there_before_a_step_is_no_work_of_other_modules(in_session: InSession) -> None:
    def make() -> Case:
        row = Row()
        rows = [torch.zeros(1, dtype=torch.int64, device="cuda") for _ in range(2)]

        def prepare(step: int) -> None:
            rows[(step + 1) % 2].fill_(-9)
            row.row = rows[step % 2].fill_(step)

        return Case(Parent(row), inputs, prepare=prepare)

    def body(backend: Backend) -> None:
        report = judged(backend, make)
        verdicts = {module.path: module.verdict for module in report.modules}

        assert verdicts == {
            "": Verdict.STALE,
            "first": Verdict.EQUAL,
            "bad": Verdict.STALE,
            "last": Verdict.EQUAL,
            "idle": Verdict.NOT_CALLED,
        }

    in_session(body)
