"""What capturing one part alone shows: verdicts, lines, values and how much it costs."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.attempts import runs
from capturelint.debug.attempts.attempt import Inputs, Tally, attempt
from capturelint.debug.attempts.modes import Modes
from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.backend import Backend, Counts, SpentError
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import State
from capturelint.verdict import Certainty, Verdict

if TYPE_CHECKING:
    from tests.unit.debug.conftest import InSession


_Inputs = Callable[[int], tuple[Any, ...]]


def _numbers(step: int) -> tuple[Tensor]:
    generator = torch.Generator().manual_seed(1000 + step)
    return (torch.randn(4, 8, generator=generator).cuda(),)


def _part(run: Callable[..., Any], inputs: _Inputs = _numbers, steps: int = 7) -> Part:
    return Part(
        path="",
        cls=type(run).__name__,
        run=run,
        steps=tuple((Call(inputs(step), {}),) for step in range(steps)),
    )


def _outcome(
    backend: Backend,
    run: Callable[..., Any],
    inputs: _Inputs = _numbers,
    settings: Settings | None = None,
    **options: Any,
) -> Outcome:
    if isinstance(run, nn.Module):
        backend.place(run)
    with torch.no_grad():
        return attempt(
            _part(run, inputs),
            backend=backend,
            state=State([run]),
            settings=settings or Settings(),
            **options,
        )


def _lines(outcome: Outcome) -> list[str]:
    """Return the text of the places without remarks."""
    return [place.source.partition("  #")[0] for place in outcome.places]


class Plain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Any:
        return {"out": self.linear(x).relu()}


def test_a_part_whose_replays_are_equal_passes(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        tally = Tally()

        assert _outcome(backend, Plain(), tally=tally) == Outcome(Verdict.EQUAL)
        # 3 warm-ups, a capture, 7 eager runs, 7 replays
        assert tally.forwards == 18

    in_session(run)


class Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.step = 0

    def forward(self, x: Tensor) -> Any:
        self.step += 1
        return x * self.step


def test_a_counter_is_stale_by_its_own_line(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        model = Counter()
        found = _outcome(backend, model)

        assert (found.verdict, found.certainty) == (Verdict.STALE, Certainty.SHOWN)
        assert _lines(found) == ["self.step += 1", "return x * self.step"]
        assert [place.function for place in found.places] == ["Counter.forward"] * 2
        (frozen,) = found.evidence.frozen
        assert (frozen.before, frozen.after, frozen.name) == ("4", "5", "self.step")
        assert (frozen.cause, frozen.place) == found.places
        assert found.evidence.changes == ("step: 4 -> 5 (number)",)
        largest = float(_numbers(1)[0].abs().max())
        assert (found.evidence.replay, found.evidence.output) == (2, "result")
        assert found.evidence.difference == pytest.approx(largest, rel=1e-6)
        assert found.evidence.dtype == "float32"
        assert model.step == 0

    in_session(run)


class Late(Counter):
    def forward(self, x: Tensor) -> Any:
        self.step += 1
        return x * (2 if self.step > 6 else 1)


def test_a_counter_that_shows_later_is_stale_at_that_replay(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Late())

        assert found.verdict is Verdict.STALE
        assert _lines(found) == ["self.step += 1", "return x * (2 if self.step > 6 else 1)"]
        assert found.evidence.replay == 4
        (frozen,) = found.evidence.frozen
        assert (frozen.before, frozen.after) == ("1", "2")

    in_session(run)


class UnusedCounter(Counter):
    def forward(self, x: Tensor) -> Any:
        self.step += 1
        return x * 2


def test_a_counter_that_nothing_uses_is_no_matter(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        assert _outcome(backend, UnusedCounter()).verdict is Verdict.EQUAL

    in_session(run)


class TwoCounters(Counter):
    def __init__(self) -> None:
        super().__init__()
        self.unused = 0

    def forward(self, x: Tensor) -> Any:
        self.unused += 1
        scale = self.advanced()
        return x * scale

    def advanced(self) -> int:
        self.step += 2
        return self.step


def test_of_two_counters_the_one_that_is_used_is_to_blame(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, TwoCounters())

        assert _lines(found) == ["self.step += 2", "return x * scale"]
        assert [frozen.name for frozen in found.evidence.frozen] == ["self.step"]

    in_session(run)


class Skipping(nn.Module):
    """Drops layers at random, in another function than the layers' own. Counts to no purpose."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0
        self.layers = nn.ModuleList([Rebinding(), Plain(), Plain()])

    def forward(self, x: Tensor) -> Any:
        self.calls += 1
        for layer in self.layers[1:]:
            drawn = torch.rand([])
            if drawn < 0.5:
                x = layer(x)["out"]
        return x


def test_what_makes_the_call_go_another_way_is_found_by_taking_it_back(
    in_session: InSession,
) -> None:
    def run(backend: Backend) -> None:
        torch.manual_seed(0)
        found = _outcome(backend, Skipping())

        assert (found.verdict, found.certainty) == (Verdict.STALE, Certainty.SHOWN)
        assert _lines(found)[0] == "drawn = torch.rand([])"
        assert {frozen.name for frozen in found.evidence.frozen} == {"torch CPU generator"}

    in_session(run)


class Ticking(nn.Module):
    """Counts to no purpose, next to a clock that is used."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Any:
        self.calls += 1
        return x * time.perf_counter()


def test_a_counter_next_to_a_clock_is_not_to_blame(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Ticking(), settings=Settings(rtol=0.0, atol=0.0))

        assert _lines(found) == ["return x * time.perf_counter()"]

    in_session(run)


class Appending(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Tensor] = []

    def forward(self, x: Tensor) -> Any:
        self.kept.append(x.mean())
        return x + sum(self.kept)


def test_a_list_that_grows_is_stale(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Appending())

        assert (found.verdict, found.evidence.replay) == (Verdict.STALE, 2)
        assert _lines(found) == ["self.kept.append(x.mean())", "return x + sum(self.kept)"]

    in_session(run)


class Rebinding(nn.Module):
    acc: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("acc", torch.zeros(8))

    def forward(self, x: Tensor) -> Any:
        self.acc = self.acc * 0.9 + x.mean(0)
        return x + self.acc


def test_a_buffer_bound_anew_is_stale(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Rebinding())

        assert (found.verdict, found.evidence.replay) == (Verdict.STALE, 2)
        assert _lines(found) == ["self.acc = self.acc * 0.9 + x.mean(0)"]
        assert [frozen.name for frozen in found.evidence.frozen] == ["self.acc"]

    in_session(run)


class HiddenRebinding(Rebinding):
    def forward(self, x: Tensor) -> Any:
        self.acc = self.acc * 0.9 + x.mean(0)
        return x * 2


def test_a_buffer_that_no_output_shows_is_stale_too(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, HiddenRebinding())

        assert (found.verdict, found.evidence.replay) == (Verdict.STALE, 2)
        assert found.evidence.output == "state acc"
        assert _lines(found) == ["self.acc = self.acc * 0.9 + x.mean(0)"]

    in_session(run)


class Keeping(nn.Module):
    """Keeps what each call computed, for whoever wants to look at it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("last", torch.zeros(8))

    def forward(self, x: Tensor) -> Any:
        self.last = x.mean(0)
        return x + self.last


def test_a_buffer_that_each_call_makes_from_its_input_is_fresh(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        assert _outcome(backend, Keeping()).verdict is Verdict.EQUAL

    in_session(run)


class PythonRandom(nn.Module):
    def forward(self, x: Tensor) -> Any:
        factor = random.random()
        return x * factor


class OwnRandom(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.numbers = random.Random(0)

    def forward(self, x: Tensor) -> Any:
        return x * self.numbers.random()


@pytest.mark.parametrize(
    ("kind", "lines"),
    [
        (PythonRandom, ["factor = random.random()", "return x * factor"]),
        (OwnRandom, ["return x * self.numbers.random()"]),
    ],
)
def test_random_numbers_of_the_host_are_stale(
    in_session: InSession, kind: type[nn.Module], lines: list[str]
) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, kind())

        assert (found.verdict, found.evidence.replay) == (Verdict.STALE, 2)
        assert _lines(found) == lines

    in_session(run)


class KeptInput(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.memo: Tensor | None = None

    def forward(self, x: Tensor) -> Any:
        if self.memo is None:
            self.memo = x
        return x + self.memo


def test_an_input_that_is_kept_is_stale(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, KeptInput())

        assert (found.verdict, found.evidence.replay) == (Verdict.STALE, 2)
        assert _lines(found) == ["self.memo = x"]

    in_session(run)


class Memo(KeptInput):
    def forward(self, x: Tensor) -> Any:
        if self.memo is None:
            self.memo = x.mean(0)
        return x + self.memo


def test_what_is_computed_once_in_the_warm_up_is_no_matter(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        assert _outcome(backend, Memo()).verdict is Verdict.EQUAL

    in_session(run)


class Address(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return x + float(x.data_ptr() % 65536)


def test_an_address_is_stale(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Address())

        assert (found.verdict, found.certainty) == (Verdict.STALE, Certainty.SHOWN)
        assert _lines(found) == ["return x + float(x.data_ptr() % 65536)"]
        assert [frozen.name for frozen in found.evidence.frozen] == ["an address"]

    in_session(run)


class Clock(nn.Module):
    def forward(self, x: Tensor) -> Any:
        now = time.perf_counter()
        return x * now


def test_the_time_is_stale_though_eager_varies_too(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Clock(), settings=Settings(rtol=0.0, atol=0.0))

        assert found.verdict is Verdict.STALE
        assert _lines(found) == ["return x * now"]

    in_session(run)


class Varying(nn.Module):
    hidden: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("hidden", torch.zeros(()))

    def forward(self, x: Tensor) -> Any:
        return x + self.hidden


def test_what_varies_between_eager_runs_alone_is_nondeterministic(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        model = backend.place(Varying())
        noise = iter(range(10**6))

        def prepare(_step: int) -> None:
            # Written behind torch's back, as a kernel that adds in any order would.
            storage: Any = model.hidden.untyped_storage()
            storage.fill_(60 + next(noise) % 5)

        found = _outcome(backend, model, prepare=prepare)

        assert found.verdict is Verdict.NONDETERMINISTIC
        assert found.message == "two eager runs differ as well"
        assert found.evidence.replay == 1

    in_session(run)


class Normed(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(8)

    def forward(self, x: Tensor) -> Any:
        return self.norm(x)


class Cache(nn.Module):
    keys: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 8))

    def forward(self, x: Tensor, position: Tensor) -> Any:
        self.keys.index_copy_(0, position, x)
        return self.keys.sum(0)


class Dropout(nn.Module):
    def forward(self, x: Tensor) -> Any:
        return nn.functional.dropout(x, 0.5, training=True)


def _with_positions(step: int) -> tuple[Any, ...]:
    return (*_numbers(step), (torch.arange(4) + step).cuda())


@pytest.mark.parametrize(
    ("kind", "inputs"), [(Normed, _numbers), (Cache, _with_positions), (Dropout, _numbers)]
)
def test_state_written_on_the_device_is_repeated(
    in_session: InSession, kind: type[nn.Module], inputs: _Inputs
) -> None:
    def run(backend: Backend) -> None:
        model = kind()
        before = {name: one.clone() for name, one in model.state_dict().items()}

        assert _outcome(backend, model, inputs) == Outcome(Verdict.EQUAL)
        after = {name: one.cpu() for name, one in model.state_dict().items()}
        assert all(torch.equal(before[name], after[name]) for name in before)

    in_session(run)


class Reading(nn.Module):
    def forward(self, x: Tensor) -> Any:
        scale = x.sum().item()
        return x * scale


class Swallowing(nn.Module):
    def forward(self, x: Tensor) -> Any:
        with contextlib.suppress(RuntimeError):
            x.sum().item()
        return x * 2


class Copying(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.arange(8.0)

    def forward(self, x: Tensor) -> Any:
        return x + self.table.to(x.device)


@pytest.mark.parametrize(
    ("kind", "line", "message"),
    [
        (Reading, "scale = x.sum().item()", "operation not permitted when stream is capturing"),
        (Swallowing, "x.sum().item()", "operation not permitted when stream is capturing"),
        (Copying, "return x + self.table.to(x.device)", "unless the CPU tensor is pinned"),
    ],
)
def test_what_a_capture_refuses_is_named_with_its_line(
    in_session: InSession, kind: type[nn.Module], line: str, message: str
) -> None:
    def run(backend: Backend) -> None:
        tally = Tally()
        found = _outcome(backend, kind(), tally=tally)

        assert (found.verdict, found.certainty) == (Verdict.REFUSES, Certainty.SHOWN)
        assert _lines(found)[0] == line
        assert message in found.message
        assert found.operation
        assert found.evidence.exception.startswith("SimulatedCaptureError: ")
        assert tally.forwards == 4

    in_session(run)


class Handling(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.scales: dict[str, float] = {}

    def forward(self, x: Tensor) -> Any:
        try:
            return x * self.scales["none"]
        except KeyError:
            return x * x.sum().item()


def test_an_exception_the_model_handled_before_is_not_to_blame(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        assert _lines(_outcome(backend, Handling()))[0] == "return x * x.sum().item()"

    in_session(run)


class Guarded(nn.Module):
    def forward(self, x: Tensor) -> Any:
        if torch.cuda.is_current_stream_capturing():
            raise NotImplementedError
        return x * 2


def test_an_exception_of_the_models_own_refuses_too(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Guarded())

        assert (found.verdict, found.message) == (Verdict.REFUSES, "NotImplementedError")
        assert _lines(found) == ["raise NotImplementedError"]

    in_session(run)


class Aware(nn.Module):
    def forward(self, x: Tensor) -> Any:
        if torch.cuda.is_current_stream_capturing():
            return x * 2
        return x * 3


def test_what_is_computed_otherwise_when_capturing_differs(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Aware())

        assert (found.verdict, found.certainty) == (Verdict.DIFFERS, Certainty.LIKELY)
        assert _lines(found) == ["return x * 2"]
        assert found.evidence.replay == 1

    in_session(run)


class AwareCounter(Counter):
    def forward(self, x: Tensor) -> Any:
        self.step += 1
        return x * (self.step + (1 if torch.cuda.is_current_stream_capturing() else 0))


def test_what_differs_from_both_references_is_stale(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, AwareCounter())

        assert found.verdict is Verdict.STALE
        assert _lines(found)[0] == "self.step += 1"

    in_session(run)


@pytest.mark.parametrize(
    ("forward", "message"),
    [
        (lambda x: x, "the result lies in the memory of the input `x`"),
        (lambda x: [x + 1, x[1:]], "`[1]` of the result lies in the memory of the input `x`"),
        (lambda x: x.add_(1) * 2, "the input `x` is written in place"),
    ],
)
def test_shared_memory_is_a_note(
    in_session: InSession, forward: Callable[..., Any], message: str
) -> None:
    def run(backend: Backend) -> None:
        assert _outcome(backend, forward) == Outcome(Verdict.ALIASES_INPUT, message=message)

    in_session(run)


class Returning(Counter):
    def forward(self, x: Tensor) -> Any:
        self.step += 1
        return {"out": x * 2, "step": self.step}


def test_a_number_that_is_returned_is_stale(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Returning())

        assert (found.verdict, found.evidence.output) == (Verdict.STALE, "step")
        assert (found.evidence.replay, found.evidence.difference) == (2, None)
        assert _lines(found) == ["self.step += 1"]

    in_session(run)


class StaticCache:
    """Key-value memory of fixed size, as an argument: written in place, and counted on the host."""

    def __init__(self, keys: Tensor) -> None:
        self.keys = keys
        self.layers: list[Tensor] = []

    def update(self, x: Tensor, position: Tensor) -> Tensor:
        self.keys.index_copy_(0, position, x)
        self.layers.append(self.keys)
        return self.keys


class Attending(nn.Module):
    def forward(self, x: Tensor, position: Tensor, cache: StaticCache) -> Any:
        return cache.update(x, position).sum(0) + len(cache.layers)


def _with_cache(step: int) -> tuple[Any, ...]:
    return (*_with_positions(step), StaticCache(torch.full((16, 8), float(step)).cuda()))


def test_an_object_that_is_changed_in_place_is_made_anew(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Attending(), _with_cache)

        assert found == Outcome(
            Verdict.ALIASES_INPUT, message="the input `cache` is written in place"
        )

    in_session(run)


class Forgetful(nn.Module):
    def forward(self, x: Tensor, position: Tensor, cache: StaticCache) -> Any:
        if not torch.cuda.is_current_stream_capturing():
            cache.update(x, position)
        return x * 2


def test_an_argument_that_replays_do_not_write_differs(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, Forgetful(), _with_cache)

        assert (found.verdict, found.evidence.output) == (
            Verdict.DIFFERS,
            "argument cache.layers[0]",
        )

    in_session(run)


def test_arguments_that_vary_are_undecided(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, lambda x, n: x * n, lambda step: (*_numbers(step), step))

        assert found == Outcome(
            Verdict.UNDECIDED,
            why="its arguments vary between calls: `n` was 0 and is 1 in step 2; a graph would keep "
            "the first number: pass a tensor on the device instead",
        )

    in_session(run)


def test_what_raises_eagerly_is_undecided(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        def fail(_x: Tensor) -> Tensor:
            raise ValueError("no such shape\nas advised")

        assert _outcome(backend, fail) == Outcome(
            Verdict.UNDECIDED, why="raises when run eagerly alone: ValueError: no such shape"
        )

    in_session(run)


class Several(Counter):
    def forward(self, x: Tensor) -> Any:
        self.step += 1
        return (x * (self.step % 2),)


def test_the_calls_of_a_step_are_judged_as_one(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        def judged(calls: int) -> Outcome:
            model = Several()
            steps = tuple(
                tuple(Call(_numbers(step * calls + call), {}) for call in range(calls))
                for step in range(3)
            )
            return attempt(
                Part("layer", "Several", model, steps),
                backend=backend,
                state=State([model]),
                settings=Settings(),
            )

        # With two calls in each step, all steps are alike.
        assert judged(2).verdict is Verdict.EQUAL
        assert judged(3).verdict is Verdict.STALE
        assert judged(3).evidence.output == "[0][0]"

    in_session(run)


class Shared(nn.Module):
    """One counter under two names."""

    def __init__(self) -> None:
        super().__init__()
        self.first = self.second = Counter()

    def forward(self, x: Tensor) -> Any:
        return self.second(self.first(x))


def test_a_shared_module_is_restored_as_one(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        model = Shared()
        found = _outcome(backend, model)

        assert _lines(found) == ["self.step += 1", "return x * self.step"]
        assert (model.first.step, model.first is model.second) == (0, True)

    in_session(run)


class Lazy(nn.Module):
    """Makes something in each of its first calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: Tensor) -> Any:
        self.calls += 1
        if self.calls <= 5:
            setattr(self, f"table_{self.calls}", torch.ones(8).cuda())
        return x * 2


def test_a_part_warms_up_until_nothing_new_is_made(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        tally = Tally()
        model = Lazy()

        assert _outcome(backend, model, tally=tally).verdict is Verdict.EQUAL
        assert tally.forwards == 6 + 1 + 7 + 7
        assert not hasattr(model, "table_1")

    in_session(run)


def test_as_many_warm_ups_are_made_as_asked_for(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        tally = Tally()
        settings = Settings(warmup=1, replays=3)

        assert _outcome(backend, Plain(), settings=settings, tally=tally).verdict is Verdict.EQUAL
        assert tally.forwards == 1 + 1 + 4 + 4

    in_session(run)


def test_without_a_warm_up_a_library_refuses_to_start(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        torch.manual_seed(0)
        model = Plain()
        torch.manual_seed(0)
        other = backend.place(Plain())

        found = _outcome(
            backend, model, settings=Settings(warmup=0), reference=_part(other), tally=Tally()
        )

        assert found.verdict is Verdict.REFUSES
        assert "CUBLAS" in found.message
        assert _lines(found)[0] == 'return {"out": self.linear(x).relu()}'

    in_session(run)


def test_without_a_warm_up_a_second_instance_is_the_reference(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        model, other = Memo(), Memo()
        found = _outcome(backend, model, settings=Settings(warmup=0), reference=_part(other))

        assert (found.verdict, found.evidence.replay) == (Verdict.STALE, 2)
        assert (model.memo, other.memo is None) == (None, False)

    in_session(run)


def test_static_inputs_that_were_warmed_up_on_are_used_again(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        model = KeptInput()
        part, state = _part(model), State([model])
        inputs, fresh = Inputs(part.steps[0]), state.save()
        (call,) = inputs.filled(part.steps[0])
        call.of(model)

        def judged(**options: Any) -> Outcome:
            settings = Settings(warmup=1)
            return attempt(part, backend=backend, state=state, settings=settings, **options)

        assert judged().verdict is Verdict.EQUAL
        assert judged(inputs=inputs).verdict is Verdict.STALE
        assert _lines(judged(inputs=inputs, fresh=fresh)) == ["self.memo = x"]

    in_session(run)


class Training(nn.Module):
    """A whole training step. Its optimizer makes its state in the first call."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(8, 8)
        self.optimizer: torch.optim.Optimizer | None = None

    def forward(self, x: Tensor) -> Any:
        assert self.optimizer is not None
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.linear(x).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        return loss.detach()


@pytest.mark.parametrize("warmup", [None, 1])
def test_a_training_step_is_repeated_with_the_state_of_its_optimizer(
    in_session: InSession, warmup: int | None
) -> None:
    def run(backend: Backend) -> None:
        model = backend.place(Training())
        model.optimizer = torch.optim.Adam(model.parameters(), lr=0.1, capturable=True)
        with torch.enable_grad():
            found = attempt(
                _part(model),
                backend=backend,
                state=State([model]),
                settings=Settings(warmup=warmup),
            )

        assert found == Outcome(Verdict.EQUAL)
        assert model.optimizer.state == {}
        assert model.linear.weight.grad is None

    in_session(run)


class OnDefaultStream(nn.Module):
    def forward(self, x: Tensor) -> Any:
        with torch.cuda.stream(torch.cuda.default_stream()):
            y = x * 2
        return y + 1


def test_lines_that_a_run_as_if_capturing_lists_are_blamed_for_what_nothing_else_tells(
    in_session: InSession,
) -> None:
    def run(backend: Backend) -> None:
        found = _outcome(backend, OnDefaultStream())

        assert (found.verdict, found.certainty) == (Verdict.WORK_MISSING, Certainty.LIKELY)
        assert _lines(found) == ["y = x * 2"]
        assert found.message

    in_session(run)


def test_what_a_graph_lacks_is_told_with_what_it_holds(
    in_session: InSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(backend: Backend) -> None:
        monkeypatch.setattr(backend, "counts", lambda _: Counts(2, 1, 0))
        found = _outcome(backend, OnDefaultStream())
        passed = _outcome(backend, nn.Tanh())

        assert found.evidence.counts == "an eager call runs 2 kernels, a graph holds 1 kernel"
        assert passed.evidence.counts == ""

    in_session(run)


def test_the_verdict_stands_where_nothing_can_be_counted(
    in_session: InSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(backend: Backend) -> None:
        def counts(_: object) -> None:
            raise SpentError("lost")

        monkeypatch.setattr(backend, "counts", counts)
        found = _outcome(backend, OnDefaultStream())

        assert (found.verdict, found.evidence.counts) == (Verdict.WORK_MISSING, "")

    in_session(run)


class Parent(nn.Module):
    def __init__(self, child: nn.Module) -> None:
        super().__init__()
        self.child = child
        self.step = 0

    def forward(self, x: Tensor) -> Any:
        self.step += 1
        return self.child(self.child(x)) * (self.step if self.counts else 1)

    counts = False


class CountingParent(Parent):
    counts = True


def _recorded(model: Parent) -> tuple[Part, Part]:
    """Return parent and child, with what the child received and returned."""
    parent = _part(model)
    received: list[list[Call]] = []
    returned: list[list[object]] = []
    with torch.no_grad():
        for (call,) in parent.steps:
            first = (call.args[0].clone(),)
            one = model.child(*first)
            received.append([Call(first, {}), Call((one.clone(),), {})])
            returned.append([one.clone(), model.child(one).clone()])
    child = Part(
        path="child",
        cls=type(model.child).__name__,
        run=model.child,
        steps=tuple(map(tuple, received)),
        results=tuple(map(tuple, returned)),
    )
    return parent, child


@pytest.mark.parametrize(
    ("kind", "verdict"), [(Parent, Verdict.EQUAL), (CountingParent, Verdict.STALE)]
)
def test_own_lines_are_judged_with_stand_ins_for_what_they_call(
    in_session: InSession, kind: type[Parent], verdict: Verdict
) -> None:
    def run(backend: Backend) -> None:
        model = backend.place(kind(Reading()))
        parent, child = _recorded(model)

        def judged(replaced: dict[str, Part]) -> Outcome:
            with torch.no_grad():
                return attempt(
                    parent,
                    backend=backend,
                    state=State([model]),
                    settings=Settings(),
                    replaced=replaced,
                )

        assert judged({}).verdict is Verdict.REFUSES
        assert judged({"child": child}).verdict is verdict
        assert "_compiled_call_impl" not in vars(model.child)

    in_session(run)


def test_stand_ins_that_do_not_fit_are_undecided(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        model = backend.place(Parent(Plain()))
        results = (({"out": torch.ones(1).cuda()},) * 2, ({"out": 1},) * 2)
        child = Part("child", "Plain", model.child, steps=((), ()), results=results)

        assert _outcome(backend, model, replaced={"child": child}) == Outcome(
            Verdict.UNDECIDED,
            why=(
                "what `child` returns varies: [0]['out'] was float32 tensor (1) on cuda "
                "and is 1 in step 2"
            ),
        )

    in_session(run)


class Branching(Parent):
    def forward(self, x: Tensor) -> Any:
        again = 3 if torch.cuda.is_current_stream_capturing() else 2
        for _ in range(again):
            x = self.child(x)
        return x * 1


def test_stand_ins_that_are_called_too_often_are_undecided(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        model = backend.place(Branching(Reading()))
        parent, child = _recorded(model)
        with torch.no_grad():
            found = attempt(
                parent,
                backend=backend,
                state=State([model]),
                settings=Settings(),
                replaced={"child": child},
            )

        assert found == Outcome(
            Verdict.UNDECIDED, why="`child` is called more often than when it was recorded"
        )

    in_session(run)


class Prepared(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.context = SimpleNamespace(scale=torch.ones(()))

    def forward(self, x: Tensor) -> Any:
        return x * self.context.scale


@pytest.mark.parametrize(("in_place", "verdict"), [(True, Verdict.EQUAL), (False, Verdict.STALE)])
def test_what_prepares_a_step_runs_before_every_replay(
    in_session: InSession, in_place: bool, verdict: Verdict
) -> None:
    def run(backend: Backend) -> None:
        model = Prepared()
        model.context.scale = torch.ones(()).cuda()

        def prepare(step: int) -> None:
            if in_place:
                model.context.scale.fill_(step)
            else:
                model.context.scale = torch.full((), float(step)).cuda()

        found = _outcome(backend, model, prepare=prepare)

        assert found.verdict is verdict
        assert float(model.context.scale.cpu()) == 1.0

    in_session(run)


def test_steps_that_were_left_out_are_not_prepared(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        holder = Prepared()
        holder.context.scale = torch.zeros(()).cuda()

        def prepare(step: int) -> None:
            holder.context.scale.fill_(step)
            if step == 1:
                raise ValueError

        part = replace(_part(holder, steps=2), numbers=(0, 2))
        found = attempt(
            part, backend=backend, state=State([holder]), settings=Settings(), prepare=prepare
        )

        assert found == Outcome(Verdict.EQUAL)

    in_session(run)


def test_in_inference_mode_state_is_written_as_well(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        def judged(model: nn.Module, inputs: _Inputs = _numbers) -> Outcome:
            backend.place(model)
            with torch.inference_mode():
                return attempt(
                    _part(model, inputs),
                    backend=backend,
                    state=State([model]),
                    settings=Settings(),
                )

        assert judged(Normed()) == Outcome(Verdict.EQUAL)
        assert judged(Cache(), _with_positions) == Outcome(Verdict.EQUAL)
        assert _lines(judged(Rebinding())) == ["self.acc = self.acc * 0.9 + x.mean(0)"]

    in_session(run)


def test_modes_streams_and_generators_are_left_as_they_were(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        def seen() -> Iterator[object]:
            yield torch.is_grad_enabled()
            yield torch.cuda.current_stream()
            yield random.getstate()
            yield torch.get_rng_state().tolist()
            yield torch.cuda.is_current_stream_capturing()

        for model in (Plain(), Counter(), Reading(), Aware()):
            before = list(seen())
            _outcome(backend, model)

            assert list(seen()) == before

    in_session(run)


def test_a_part_is_run_in_the_modes_that_it_was_called_in(in_session: InSession) -> None:
    def run(backend: Backend) -> None:
        def forward(x: Tensor) -> Tensor:
            if torch.is_grad_enabled():
                raise ValueError
            return x * 2

        part = _part(forward)
        modes = Modes(gradients=False, inference=True, autocast=())
        in_modes = tuple((replace(call, modes=modes),) for (call,) in part.steps)
        options: Any = {"backend": backend, "state": State([forward]), "settings": Settings()}

        assert attempt(part, **options).verdict is Verdict.UNDECIDED
        assert attempt(replace(part, steps=in_modes), **options).verdict is Verdict.EQUAL

    in_session(run)


def test_large_inputs_are_made_anew_for_each_step(
    in_session: InSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "_MOST_KEPT", 0)

    class Keeps(nn.Module):
        first: Tensor | None = None

        def forward(self, x: Tensor) -> Tensor:
            if self.first is None:
                self.first = x
            return x + self.first

    def run(backend: Backend) -> None:
        assert _outcome(backend, Plain()) == Outcome(Verdict.EQUAL)
        # What the first call was given is not what later calls are given.
        assert _outcome(backend, Keeps()).verdict is Verdict.STALE

    in_session(run)
