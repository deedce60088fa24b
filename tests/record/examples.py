"""The examples of the rules' fixtures: which there are, what each must do, and how a step is called."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import random
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch import Tensor, nn

from capturelint.lint.fixture import examples
from capturelint.lint.registry import builtin_rules
from tests.record.step import Step, Twin
from tests.record.world import World, with_clock

# Every function and class of these is code around a capture.
SITE_RULES = frozenset(["CL603", "CL704", "CL803", "CL901", "CL902", "CL903", "CL904"])
# Such code in the other fixtures.
SITES = frozenset(
    "bad_warmup good_warmup good_capture_on_a_new_stream bad_region bad_schedule "
    "bad_region_not_joined good_region good_region_on_the_stream good_fork_by_a_function "
    "good_step_outside good_rate_on_the_device good_options good_step_of_something_else".split()
)
# Their pages are about what happens without a warm-up: of the module, and of libraries as well.
_COLD_STEPS = frozenset(["CL504"])
COLD_SITES = frozenset(["CL901"])

_COUNTS = (2, 1, 1, 3, 1, 2, 1, 1)


def names(fixture: Path) -> list[str]:
    """Return the names of the examples that show what a rule reports, and what it does not."""
    text = fixture.read_text(encoding="utf-8")
    return [node.name for prefix in ("bad_", "good_") for node in examples(text, prefix)]


def is_site(rule: str, name: str) -> bool:
    """Return whether an example is code around a capture, not a step to capture."""
    return rule in SITE_RULES or name in SITES


def step(rule: str, name: str, world: World) -> Step:
    """Return a step of a fixture. Each twin has a module of its own, with its own globals."""
    module = load(rule, world)

    def inputs(number: int) -> tuple[Any, ...]:
        torch.manual_seed(1000 + number)
        random.seed(1000 + number)
        given: tuple[Any, ...] = module.inputs()
        return given

    def make() -> Twin:
        return _twin(load(rule, world), name)

    return Step(make, inputs, warmup=0 if rule in _COLD_STEPS else 3)


def load(rule: str, world: World) -> ModuleType:
    """Return the fixture of a rule as a module of its own, whose clock is the world's."""
    path = _fixtures()[rule]
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return with_clock(module, world)


def _twin(module: ModuleType, name: str) -> Twin:
    definition: Any = vars(module)[name]
    if isinstance(definition, FunctionType):
        return Twin(_with_arguments(definition))
    if issubclass(definition, torch.optim.Optimizer):
        return _optimizer(definition)
    made: nn.Module = definition(**_of(_CONSTRUCTOR, definition.__init__))
    made.cuda()
    return Twin(_with_arguments(made.forward, made), tuple(made.parameters()))


def _optimizer(definition: Callable[..., torch.optim.Optimizer]) -> Twin:
    """Return a step of an optimizer over two parameters; its count starts on the device if it must."""
    parameters = [nn.Parameter(torch.ones(16, device="cuda")) for _ in range(2)]
    optimizer = definition(parameters)
    if definition.__name__.startswith("Good"):
        optimizer.param_groups[0]["step"] = torch.zeros((), device="cuda")

    @torch.no_grad()
    def call(_x: Tensor) -> None:
        optimizer.step()

    return Twin(call, tuple(parameters))


def _with_arguments(function: Callable[..., object], call: Any = None) -> Callable[..., object]:
    others = _of(_arguments(), function)
    return functools.partial(function if call is None else call, **others)


def _of(values: Mapping[str, object], function: Callable[..., object]) -> dict[str, object]:
    """Return those of `values` that a function has parameters for."""
    return {name: values[name] for name in inspect.signature(function).parameters if name in values}


_CONSTRUCTOR: Mapping[str, object] = {"refresh": True, "is_draft": True}


def _arguments() -> dict[str, object]:
    """Return what examples take besides their inputs, by the names of their parameters."""
    counts = torch.tensor(_COUNTS, device="cuda")
    batch = _Batch(lengths=counts, n_rep=2)
    batch.counts, batch.repeats = torch.tensor([2], device="cuda"), 2
    data = {"cell": torch.ones(8, 3, device="cuda"), "nedges": counts, "natoms": counts}
    permuted = {"order": counts.argsort(), "lengths": counts, "offsets": counts.cumsum(0)}
    numbers = {"n": 16, "num_heads": 2, "counts": 2, "nedges": 2, "total": sum(_COUNTS)}
    return {"batch": batch, "data": data, "info": {}, **permuted, **numbers}


class _Batch(dict[str, object]):
    """A mapping whose attributes are set as well."""

    counts: Tensor
    repeats: int


@functools.cache
def _fixtures() -> dict[str, Path]:
    return {entry.code: entry.fixture for entry in builtin_rules()}
