"""Inputs of each step: fresh, of fixed shapes, and held where inventing them would be wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeVar, cast

import pytest
import torch
from torch import nn

from capturelint.debug.backend import Backend, CannotTellError
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.steps import Steps, calls_of
from capturelint.debug.settings import Settings

_Value = TypeVar("_Value")


class Host:
    """What steps need of a backend. Remembers what it placed."""

    def __init__(self) -> None:
        self.placed: list[object] = []

    def seed(self, seed: int) -> None:
        torch.manual_seed(seed)

    def place(self, value: _Value) -> _Value:
        self.placed.append(value)
        return value


def steps_of(inputs: Any, function: Any = None, **chosen: Any) -> Steps:
    case = Case(function or call, inputs)
    return calls_of(case, Settings(**chosen), cast(Backend, Host()))


def call(x: Any = None, y: Any = None) -> None:
    """Stand for what is judged; it is not called."""


def words(error: pytest.ExceptionInfo[BaseException]) -> str:
    return str(error.value)


# What a call receives


@pytest.mark.parametrize(
    ("returned", "args", "kwargs"),
    [
        (torch.ones(2), (torch.ones(2),), {}),
        ((1, 2), (1, 2), {}),
        ((), (), {}),
        ({"x": 1}, (), {"x": 1}),
        (((1,), {"y": 2}), (1,), {"y": 2}),
        (((1,), 2), ((1,), 2), {}),
        (({"x": 1}, {"y": 2}), ({"x": 1}, {"y": 2}), {}),
    ],
)
def test_how_arguments_are_read(returned: Any, args: Any, kwargs: Any) -> None:
    made = steps_of(lambda seed: returned)(0)

    assert str(made) == str({"": (args, kwargs)})


def test_several_callables_each_receive_their_own() -> None:
    case = Case(
        {"draft": call, "target": call}, lambda seed: {"target": (seed,), "draft": {"x": 1}}
    )
    made = calls_of(case, Settings(seed=7), cast(Backend, Host()))

    assert made(2) == {"draft": ((), {"x": 1}), "target": ((9,), {})}


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (3, "inputs(0) is an int; give a mapping of draft, target to their inputs"),
        ({"draft": ()}, "inputs(0) has draft; give a mapping of draft, target to their inputs"),
        (
            {"draft": (), "target": 3},
            "inputs(0)['target'] is an int; give a tensor, a tuple, a mapping, or (tuple, mapping)",
        ),
    ],
)
def test_several_callables_need_a_mapping(returned: Any, message: str) -> None:
    case = Case({"draft": call, "target": call}, lambda seed: returned)

    with pytest.raises(CaseError) as error:
        calls_of(case, Settings(), cast(Backend, Host()))

    assert words(error) == message


def test_inputs_are_placed_together_so_that_they_may_share_memory() -> None:
    host = Host()
    shared = torch.ones(2)
    made = calls_of(Case(call, lambda seed: (shared, shared)), Settings(), cast(Backend, host))(3)

    assert host.placed == [made]
    assert made[""][0][0] is made[""][0][1]


# A function of seed


def test_seeds_count_from_that_of_the_settings() -> None:
    assert steps_of(lambda seed: (seed,), seed=40)(2) == {"": ((42,), {})}


@pytest.mark.parametrize(
    "function",
    [
        lambda s: (s,),
        lambda s, batch_size=None: (s,),
        lambda batch_size=None, seed=0: (seed,),
        lambda *, seed: (seed,),
        lambda seed, device: (seed,),
        lambda device, s: (s,),
        lambda s, /: (s,),
        lambda *seeds: seeds,
        lambda **named: (named["seed"],),
        lambda the_seed=0: (the_seed,),
    ],
)
def test_a_seed_is_given_however_it_is_named(function: Any) -> None:
    assert steps_of(function)(5) == {"": ((5,), {})}


def test_a_required_batch_size_is_more_than_one() -> None:
    made = steps_of(lambda seed, batch_size, device: (torch.ones(batch_size), device))(0)

    assert made[""][0][0].shape == (2,)
    assert made[""][0][1] == "cuda"


def test_a_function_without_a_seed_draws_what_the_seed_gives() -> None:
    steps = steps_of(lambda: torch.randn(3))

    assert torch.equal(steps(1)[""][0][0], steps(1)[""][0][0])
    assert not torch.equal(steps(1)[""][0][0], steps(2)[""][0][0])
    assert steps.notes == ()


def test_what_the_function_raises_is_named_with_its_line() -> None:
    def inputs(_seed: int) -> None:
        raise KeyError("ids")

    line = inputs.__code__.co_firstlineno + 1
    with pytest.raises(CaseError) as error:
        steps_of(inputs)

    assert words(error).startswith("inputs(0) raised KeyError: 'ids' at ")
    assert words(error).endswith(f"test_steps.py:{line}")


def test_what_a_backend_cannot_tell_stays_undecided() -> None:
    def inputs(_seed: int) -> None:
        raise CannotTellError("a custom kernel")

    with pytest.raises(CannotTellError):
        steps_of(inputs)


def test_a_wrong_return_is_named() -> None:
    with pytest.raises(CaseError) as error:
        steps_of(lambda seed: 3)

    assert words(error) == (
        "inputs(0) is an int; give a tensor, a tuple, a mapping, or (tuple, mapping)"
    )


def test_equal_inputs_are_told() -> None:
    same = torch.ones(2)

    assert steps_of(lambda seed: same).notes == (
        "the first two steps have equal inputs: what a graph froze from them is not seen",
    )
    assert steps_of(lambda seed: (same, torch.full((1,), seed))).notes == ()


# Fixed shapes


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            lambda seed: torch.ones(2, 8 + seed),
            (
                "the input `x` is (2, 8) float32 in inputs(0) but (2, 9) float32 in inputs(1); "
                "a graph needs the same shapes at every step"
            ),
        ),
        (
            lambda seed: {"y": torch.ones(2, dtype=torch.float64 if seed else torch.float32)},
            (
                "the input `y` is (2,) float32 in inputs(0) but (2,) float64 in inputs(1); "
                "a graph needs the same shapes at every step"
            ),
        ),
        (
            lambda seed: {"y": torch.ones(2)} if seed else {"x": torch.ones(2)},
            (
                "the input `x` is (2,) float32 in inputs(0) but missing in inputs(1); "
                "a graph needs the same shapes at every step"
            ),
        ),
        (
            [torch.ones(1), torch.ones(1, 1)],
            (
                "the input `x` is (1,) float32 in inputs[0] but (1, 1) float32 in inputs[1]; "
                "a graph needs the same shapes at every step"
            ),
        ),
    ],
)
def test_shapes_that_vary_are_named(inputs: Any, message: str) -> None:
    with pytest.raises(CaseError) as error:
        steps_of(inputs)

    assert words(error) == message


def test_a_later_step_is_held_to_the_first() -> None:
    steps = steps_of(lambda seed: {"cache": [torch.ones(3 if seed < 4 else 4)]}, seed=1)

    steps(2)
    with pytest.raises(CaseError) as error:
        steps(3)

    assert words(error) == (
        "the input `cache[0]` is (3,) float32 in inputs(1) but (4,) float32 in inputs(4); "
        "a graph needs the same shapes at every step"
    )


# Recorded inputs


def test_recorded_inputs_come_in_turn_and_begin_again() -> None:
    recorded = [torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([3.0])]
    steps = steps_of(recorded, replays=2)

    assert [steps(k)[""][0][0].item() for k in range(5)] == [1, 2, 3, 1, 2]
    assert steps.notes == ()


def test_fewer_recorded_inputs_than_steps_are_told() -> None:
    told = "inputs holds 2 for 3 steps: they come again in turn"

    assert told in steps_of([torch.ones(1), torch.zeros(1)], replays=2).notes
    assert told not in steps_of([torch.ones(1), torch.zeros(1)], replays=1).notes


def test_recorded_inputs_are_copied() -> None:
    recorded = torch.ones(2)
    steps_of([recorded])(0)[""][0][0].zero_()

    assert recorded.tolist() == [1, 1]


# One example


def test_the_first_step_is_the_example_itself() -> None:
    example = torch.randn(4)
    first = steps_of(example)(0)[""][0][0]

    assert torch.equal(first, example)
    assert first is not example


def test_floating_inputs_are_drawn_with_the_examples_mean_and_spread() -> None:
    example = torch.randn(10_000) * 3 + 5
    example[0] = -4  # so that it has a negative value
    drawn = steps_of(example)(1)[""][0][0]

    assert drawn.mean().item() == pytest.approx(5, abs=0.2)
    assert drawn.std().item() == pytest.approx(3, abs=0.2)
    assert drawn.isfinite().all()


def test_draws_depend_on_seed_and_name_alone() -> None:
    example = {"x": torch.randn(4), "y": torch.randn(4)}
    one, other = steps_of(example), steps_of(example, seed=1)

    assert torch.equal(one(2)[""][1]["x"], other(1)[""][1]["x"])
    assert not torch.equal(one(1)[""][1]["x"], one(2)[""][1]["x"])
    assert not torch.equal(one(1)[""][1]["x"], one(1)[""][1]["y"])


@pytest.mark.parametrize(
    "example",
    [
        torch.randn(4, 6).t(),
        torch.randn(4, 6)[:, ::2],
        torch.randn(1, 6).expand(4, 6),
        torch.randn(4).to(torch.bfloat16),
        torch.randn(4).to(torch.float8_e4m3fn),
        torch.randn(4, dtype=torch.complex64),
        torch.randn(4, requires_grad=True),
        torch.randn(()),
    ],
)
def test_a_draw_keeps_all_but_the_values(example: torch.Tensor) -> None:
    drawn = steps_of((example,))(1)[""][0][0]

    def facts(one: torch.Tensor) -> tuple[object, ...]:
        return one.dtype, one.shape, one.stride(), one.requires_grad

    assert facts(drawn) == facts(example)
    assert drawn.tolist() != example.tolist()


def test_what_had_no_negative_values_gets_none() -> None:
    drawn = steps_of((torch.rand(100),))(1)[""][0][0]

    assert (drawn >= 0).all()


@pytest.mark.parametrize("value", [0.0, 1.0, -2.0])
def test_equal_values_are_drawn_apart(value: float) -> None:
    drawn = steps_of((torch.full((50,), value),))(1)[""][0][0]

    assert drawn.unique().numel() == 50


def test_half_precision_draws_stay_finite() -> None:
    drawn = steps_of((torch.tensor([6e4, -6e4] * 50, dtype=torch.float16),))(1)[""][0][0]

    assert drawn.isfinite().all()


def test_inputs_that_share_memory_still_do() -> None:
    base = torch.randn(4)
    x, y = steps_of((base, base[:2]))(1)[""][0]

    assert torch.equal(x[:2], y)


def test_integers_truth_values_and_masks_are_held() -> None:
    steps = steps_of(
        {
            "ids": torch.arange(4),
            "position": torch.tensor(3),
            "keep": torch.tensor([True, False]),
            "attention_mask": torch.ones(4),
            "bias": torch.tensor([0.0, -float("inf")]),
            "scores": torch.tensor([0.0, torch.finfo(torch.float32).min]),
            "chosen": torch.tensor([0.0, 1.0, 1.0]),
            "x": torch.randn(4),
        },
        lambda **kwargs: None,
    )
    before, after = steps(0)[""][1], steps(1)[""][1]

    assert [name for name in before if not torch.equal(before[name], after[name])] == ["x"]
    assert steps.notes == (
        "held: ids, position (integers are not redrawn; --redraw NAME draws them too)",
        "held: keep (truth values are not redrawn; --redraw NAME draws them too)",
        (
            "held: attention_mask, bias, chosen, scores (masks are not redrawn; "
            "--redraw NAME draws them too)"
        ),
    )


def test_of_an_example_without_fresh_values_it_is_said() -> None:
    assert steps_of((torch.arange(4),)).notes == (
        "held: x (integers are not redrawn; --redraw NAME draws them too)",
        "the first two steps have equal inputs: what a graph froze from them is not seen",
    )


def test_asked_integers_are_drawn_from_their_own_range() -> None:
    steps = steps_of((torch.tensor([3, 9] * 50), torch.arange(2)), redraw=("x",))
    drawn = steps(1)[""][0][0]

    assert set(drawn.tolist()) == set(range(3, 10))
    assert steps.notes == ("held: y (integers are not redrawn; --redraw NAME draws them too)",)


@dataclass
class Cache:
    keys: torch.Tensor
    length: torch.Tensor


@pytest.mark.parametrize("name", ["x", "x.length", "length"])
def test_parts_of_an_input_are_asked_for_by_any_of_their_names(name: str) -> None:
    example = (Cache(torch.randn(3), torch.arange(100)),)

    assert steps_of(example).notes[0].startswith("held: x.length (integers")
    assert steps_of(example, redraw=(name,)).notes == ()


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (
            {"input_ids": torch.arange(4)},
            "--redraw input_id: the example has no such input; did you mean input_ids?",
        ),
        (
            {"x": torch.ones(4), "b": torch.ones(4)},
            "--redraw input_id: the example has no such input; it has b, x",
        ),
        (
            lambda seed: torch.ones(4),
            "--redraw input_id: inputs is a function, not one example; drop it",
        ),
        (
            [torch.ones(4)],
            "--redraw input_id: inputs is a list of recorded inputs, not one example; drop it",
        ),
    ],
)
def test_a_name_that_cannot_be_redrawn_is_refused(inputs: Any, message: str) -> None:
    with pytest.raises(CaseError) as error:
        steps_of(inputs, redraw=("input_id",))

    assert words(error) == message


def test_parameters_among_inputs_are_left_alone() -> None:
    weight = nn.Parameter(torch.randn(3))

    assert steps_of((weight,))(1)[""][0][0] is weight


# Dtype


def test_floating_inputs_take_the_asked_dtype() -> None:
    kept = torch.randn(3)
    made = steps_of(lambda seed: (kept, torch.arange(3)), dtype="bfloat16")(0)[""][0]

    assert [one.dtype for one in made] == [torch.bfloat16, torch.int64]
    assert kept.dtype == torch.float32


def test_an_unknown_dtype_is_refused() -> None:
    with pytest.raises(CaseError) as error:
        steps_of(torch.ones(1), dtype="bf16")

    assert words(error) == "--dtype bf16: torch has no such dtype; name one such as bfloat16"
