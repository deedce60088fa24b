"""What is kept of the calls that a module under test makes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.attempts.part import Part
from capturelint.debug.attempts.reachable import reachable
from capturelint.debug.attempts.recording import Level, class_name, record

_PLENTY = 2**30


def _recorded(
    root: Callable[..., Any],
    *,
    steps: int = 2,
    limit: int = _PLENTY,
    only: set[str] | None = None,
    run: Callable[[int], object] | None = None,
) -> Level:
    return record(
        run or (lambda step: root(torch.full((2,), float(step)))),
        root=root,
        modules=reachable(root),
        steps=steps,
        limit=limit,
        only=only,
    )


def _received(part: Part) -> list[list[float]]:
    """Return the first number of the first argument of each call, by step."""
    return [[float(call.args[0].flatten()[0]) for call in calls] for calls in part.steps]


def _returned(part: Part) -> list[list[float]]:
    return [[float(result.flatten()[0]) for result in results] for results in part.results]  # type: ignore[attr-defined]


class Plus(nn.Module):
    def __init__(self, number: float = 1.0) -> None:
        super().__init__()
        self.number = number

    def forward(self, x: Tensor) -> Tensor:
        return x + self.number


class Calling(nn.Module):
    """A parent whose forward is given."""

    def __init__(self, forward: Callable[..., Any], **children: nn.Module) -> None:
        super().__init__()
        for name, child in children.items():
            self.add_module(name, child)
        self.calls = forward

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.calls(self, *args, **kwargs)


def test_each_called_module_is_a_part_in_call_order() -> None:
    root = Calling(lambda self, x: self.second(self.first(x)), first=Plus(1), second=Plus(10))

    level = _recorded(root)

    assert [(part.path, part.cls, _received(part), _returned(part)) for part in level.parts] == [
        ("first", "Plus", [[0.0], [1.0]], [[1.0], [2.0]]),
        ("second", "Plus", [[1.0], [2.0]], [[11.0], [12.0]]),
    ]
    assert level.missing == ()
    assert level.notes == ()


def test_only_the_outermost_called_are_parts() -> None:
    inner = Calling(lambda self, x: self.leaf(x), leaf=Plus())
    root = Calling(lambda self, x: self.inner(x), inner=inner)

    assert [part.path for part in _recorded(root).parts] == ["inner"]


def test_containers_that_are_not_called_give_their_modules() -> None:
    root = Calling(
        lambda self, x: self.blocks["a"][0](x),
        blocks=nn.ModuleDict({"a": nn.ModuleList([Plus()])}),
    )

    assert [part.path for part in _recorded(root).parts] == ["blocks.a.0"]


def test_a_module_called_several_times_has_several_calls_in_each_step() -> None:
    root = Calling(lambda self, x: self.twice(self.twice(x)), twice=Plus())

    (part,) = _recorded(root).parts

    assert _received(part) == [[0.0, 1.0], [1.0, 2.0]]
    assert part.varies == ""


def test_a_shared_module_has_its_first_name_and_lists_the_others() -> None:
    shared = Plus()
    root = Calling(lambda self, x: self.b(self.a(x)), a=shared, b=shared)

    (part,) = _recorded(root).parts

    assert (part.path, part.aliases, len(part.steps[0])) == ("a", ("b",), 2)


def test_modules_that_are_registered_nowhere_are_found() -> None:
    hidden = [Plus(1), Plus(2)]
    root = Calling(lambda self, x: hidden[1](hidden[0](x)))

    level = _recorded(root)

    assert [(part.path, _received(part)) for part in level.parts] == [
        ("<Plus not registered>", [[0.0], [1.0]]),
        ("<Plus not registered 2>", [[1.0], [2.0]]),
    ]


def test_a_compiled_module_is_named_by_what_it_runs() -> None:
    wrapper = nn.Sequential()
    wrapper.register_module("_orig_mod", nn.Linear(1, 1))

    assert class_name(wrapper) == "Linear"
    assert class_name(nn.Tanh()) == "Tanh"


def test_what_is_not_registered_is_named_below_its_caller() -> None:
    hidden = Plus()
    root = Calling(lambda self, x: hidden(x))

    level = record(
        lambda step: root(torch.zeros(2)),
        root=root,
        modules=reachable(root),
        steps=2,
        limit=_PLENTY,
        path="encoder",
    )

    assert [part.path for part in level.parts] == ["encoder.<Plus not registered>"]


def test_a_module_made_anew_by_each_call_belongs_to_the_lines_of_its_parent() -> None:
    root = Calling(lambda self, x: Plus()(x))

    assert _recorded(root).parts == ()


def test_a_function_has_the_modules_of_its_closure() -> None:
    model = Calling(lambda self, x: self.child(x), child=Plus())

    def step(x: Tensor) -> Any:
        return model(x)

    assert [part.path for part in _recorded(step).parts] == ["model"]


def test_a_bound_method_has_the_modules_of_its_object() -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.child = Plus()

        def encode(self, x: Tensor) -> Any:
            return self.child(x)

    assert [part.path for part in _recorded(Model().encode).parts] == ["child"]


def test_what_a_method_other_than_forward_does_is_the_callers_own() -> None:
    class Coder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Plus()

        def encode(self, x: Tensor) -> Any:
            return self.inner(x) * 2

    root = Calling(lambda self, x: self.coder.encode(x), coder=Coder())

    assert [part.path for part in _recorded(root).parts] == ["coder.inner"]


def test_arguments_are_kept_as_they_were_before_the_call() -> None:
    def write(_self: nn.Module, x: Tensor, *, cache: list[Tensor]) -> Tensor:
        cache.append(x)
        return x.add_(5)

    root = Calling(lambda self, x: self.child(x, cache=[]), child=Calling(write))

    (part,) = _recorded(root).parts

    assert _received(part) == [[0.0], [1.0]]
    assert part.steps[0][0].kwargs == {"cache": []}
    assert _returned(part) == [[5.0], [6.0]]


def test_results_are_kept_as_they_were_after_the_call() -> None:
    root = Calling(lambda self, x: self.child(x).mul_(100), child=Plus())

    (part,) = _recorded(root).parts

    assert _returned(part) == [[1.0], [2.0]]


def test_arguments_are_those_before_the_users_hooks_and_results_those_after() -> None:
    child = Plus()
    child.register_forward_pre_hook(lambda _module, args: (args[0] + 10,))
    child.register_forward_hook(lambda _module, _args, result: result * 2)
    root = Calling(lambda self, x: self.child(x), child=child)

    (part,) = _recorded(root).parts

    assert _received(part) == [[0.0], [1.0]]
    assert _returned(part) == [[22.0], [24.0]]


def test_the_modes_of_each_call_are_kept() -> None:
    def forward(self: Any, x: Tensor) -> Any:
        with torch.enable_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
            return self.child(x)

    root = Calling(forward, child=Plus())
    with torch.no_grad():
        (part,) = _recorded(root).parts

    modes = part.steps[0][0].modes
    assert modes is not None
    assert (modes.gradients, modes.inference) == (True, False)
    assert modes.autocast == (("cpu", torch.bfloat16),)


def test_copies_taken_in_inference_mode_can_be_written_outside() -> None:
    root = Calling(lambda self, x: self.child(x), child=Plus())
    with torch.inference_mode():
        (part,) = _recorded(root).parts

    received = part.steps[0][0].args[0]
    received.fill_(7.0)

    assert received.tolist() == [7.0, 7.0]
    assert _received(part) == [[0.0], [1.0]]


@pytest.mark.parametrize(
    ("forward", "reason"),
    [
        (
            lambda self, x: self.child(x) if x[0] < 1 else self.child(self.child(x)),
            "it is called once in step 1 and 2 times in step 2",
        ),
        (
            lambda self, x: x if x[0] < 1 else self.child(x),
            "it is called 0 times in step 1 and once in step 2",
        ),
        (
            lambda self, x: self.child(x, scale=int(x[0])),
            (
                "its arguments vary between calls: `scale` was 0 and is 1 in step 2; "
                "a graph would keep the first number: pass a tensor on the device instead"
            ),
        ),
        (
            lambda self, x: self.child(x[: int(x[0]) + 1]),
            (
                "its arguments vary between calls: "
                "`args[0]` was float32 tensor (1) and is float32 tensor (2) in step 2"
            ),
        ),
        (
            lambda self, x: self.child(x) if x[0] < 1 else self.child(x, mask=x),
            "its arguments vary between calls: `mask` is given in step 2",
        ),
        (
            lambda self, x: _under_autocast(self.child, x, is_on=bool(x[0] < 1)),
            "step 2 calls it with other gradients, inference mode or autocast than step 1",
        ),
    ],
)
def test_what_varies_between_steps_is_said(forward: Callable[..., Any], reason: str) -> None:
    root = Calling(forward, child=Calling(lambda _self, x, **_options: x + 1))

    (part,) = _recorded(root, steps=2).parts

    assert part.varies == reason


def _under_autocast(child: nn.Module, x: Tensor, *, is_on: bool) -> Any:
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=is_on):
        return child(x)


def test_of_a_module_whose_calls_vary_the_steps_that_are_alike_are_kept() -> None:
    def forward(self: Any, x: Tensor) -> Any:
        if x[0] == 1:
            return x  # a layer dropped at random
        return self.child(x[:1] if x[0] == 3 else x)

    root = Calling(forward, child=Plus())

    (part,) = _recorded(root, steps=5).parts

    assert _received(part) == [[0.0], [2.0], [4.0]]
    assert (part.numbers, part.varies) == ((0, 2, 4), "")
    assert _returned(part) == [[1.0], [], [3.0], [4.0], [5.0]]
    assert [part.number(step) for step in range(3)] == [0, 2, 4]


def test_a_module_that_raises_what_its_parent_handles_says_so() -> None:
    def fail(_self: nn.Module, _x: Tensor) -> Tensor:
        raise ValueError

    def forward(self: Any, x: Tensor) -> Any:
        try:
            return self.child(x)
        except ValueError:
            return x

    (part,) = _recorded(Calling(forward, child=Calling(fail))).parts

    assert part.varies == "it raises ValueError in step 2"


def test_modules_over_the_limit_are_missing_and_can_be_asked_for() -> None:
    root = Calling(lambda self, x: self.b(self.a(x)), a=Plus(), b=Plus())
    # Each keeps two tensors of 8 bytes in each of 2 steps.
    limit = 2 * 2 * 8

    first = _recorded(root, limit=limit)
    second = _recorded(root, limit=limit, only=set(first.missing))

    assert ([part.path for part in first.parts], first.missing) == (["a"], ("b",))
    assert ([part.path for part in second.parts], second.missing) == (["b"], ())
    assert _received(second.parts[0]) == [[1.0], [2.0]]


def test_of_a_module_that_is_over_the_limit_alone_fewer_steps_are_kept() -> None:
    root = Calling(lambda self, x: self.a(x), a=Plus())
    step = 2 * 2**20
    data = torch.zeros(step // 8)

    level = _recorded(root, steps=7, limit=3 * step, run=lambda _step: root(data))

    assert [len(part.steps) for part in level.parts] == [3]
    assert level.notes == (
        (
            "`a` receives and returns 2 MiB in each step: kept 3 steps of 7; "
            "raise --record-limit for more"
        ),
    )


def test_memory_that_tensors_share_counts_once() -> None:
    root = Calling(lambda self, x: self.a(x, x[:1], [x.view(2, 1)]), a=Calling(lambda s, x, *_: x))

    assert _recorded(root, limit=2 * 2 * 8).missing == ()
    assert [len(part.steps) for part in _recorded(root, limit=2 * 2 * 8).parts] == [2]


def test_a_compiled_module_that_shows_nothing_is_noted() -> None:
    inner = Calling(lambda self, x: self.leaf(x), leaf=Plus())
    # What `Module.compile()` leaves behind, without the time a compiler takes.
    vars(inner)["_compiled_call_impl"] = lambda x: x + 1
    root = Calling(lambda self, x: self.inner(x), inner=inner)

    (part,) = _recorded(root).parts
    below = _recorded(inner)

    assert (part.path, _returned(part)) == ("inner", [[1.0], [2.0]])
    assert (below.parts, below.notes) == (
        (),
        ("the root is compiled: the modules it calls are not seen",),
    )
    assert float(inner(torch.ones(1))) == 2.0


def test_nothing_stays_behind_after_an_exception() -> None:
    def fail(_self: nn.Module, _x: Tensor) -> Tensor:
        raise ValueError

    root = Calling(lambda self, x: self.child(x), child=Calling(fail), compiled=Plus())
    vars(root.compiled)["_compiled_call_impl"] = compiled = lambda x: x

    with pytest.raises(ValueError):  # noqa: PT011 - it is ours
        _recorded(root)

    assert vars(nn.Module)["_compiled_call_impl"] is None
    assert vars(root.compiled)["_compiled_call_impl"] is compiled
    assert "_compiled_call_impl" not in vars(root.child)


def test_objects_that_all_steps_share_are_not_copied() -> None:
    cache = [torch.zeros(1000)]

    class Fills(nn.Module):
        def forward(self, x: Tensor, cache: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
            cache[0].fill_(float(x[0]))
            return x, cache

    root = Calling(lambda self, x: self.child(x, cache)[0], child=Fills())
    level = record(
        lambda step: root(torch.full((2,), float(step))),
        root=root,
        modules=reachable(root),
        steps=2,
        limit=100,
        shared={"argument cache": cache},
    )
    (part,) = level.parts

    assert level.notes == ()
    assert [calls[0].args[1] is cache for calls in part.steps] == [True, True]
    assert [results[0][1] is cache for results in part.results] == [True, True]  # type: ignore[index] # a tuple
    assert part.shared == {"argument cache": cache}
