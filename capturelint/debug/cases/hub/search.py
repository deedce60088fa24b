"""Find the configuration, class and inputs with which a tiny model of a type runs, by trying."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch

from capturelint.debug.cases.hub.draws import drawn
from capturelint.debug.cases.hub.plans import CannotDrawError, Plan, argument_sets, plans
from capturelint.debug.cases.hub.shrinking import Shrinkage, shrunk
from capturelint.debug.cases.mistakes import summary

_PATIENCE = 60.0  # seconds
_MOST_PARAMETERS = 150_000_000
# Images that are cut into windows cannot always shrink, and some code counts on the size of a head.
# None is the configuration as it is, which some small models need.
_ATTEMPTS = (
    Shrinkage(heads=4, head=4, inner=16, images=True),
    Shrinkage(heads=4, head=4, inner=16),
    Shrinkage(heads=4, inner=16),
    Shrinkage(),
    None,
)
_MOST_CLASSES = 3


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make one tiny model. `model`: its class. `config`: of full size, to be shrunk."""

    model: Any
    config: Any
    shrinkage: Shrinkage | None

    def built(self) -> Any:
        """Return a new model with random weights, in eval mode."""
        return self._made().eval()

    def size(self) -> int:
        """Return the number of parameters without making them, or 0 where that does not work."""
        try:
            with torch.device("meta"):
                model = self._made()
        except Exception:  # noqa: BLE001 - the class reads what it makes, which is no error on a device
            return 0
        return sum(one.numel() for one in model.parameters())

    def _made(self) -> Any:
        config = self.config if self.shrinkage is None else shrunk(self.config, self.shrinkage)
        # Some classes write into what they are given.
        return self.model._from_config(deepcopy(config))  # noqa: SLF001 - from_config of the auto classes calls it


class CannotMakeError(ValueError):
    """No try led to a model that runs. Its text says what stopped the one that came furthest."""


def recipe_of(config: Any, models: Iterable[Any]) -> tuple[Recipe, Plan]:
    """Return how to make a tiny model of one of the classes `models`, and what to call it with.

    Runs models on the CPU, and takes up to a minute. Raises `CannotMakeError`.
    """
    failures: list[_Failure] = []
    end = time.monotonic() + _PATIENCE
    for model, shrinkage in product(tuple(models)[:_MOST_CLASSES], _ATTEMPTS):
        recipe = Recipe(model, config, shrinkage)
        for outcome in _tries(recipe):
            if not isinstance(outcome, _Failure):
                return recipe, outcome
            failures.append(outcome)
            if time.monotonic() > end:
                raise CannotMakeError(_furthest(failures))
    raise CannotMakeError(_furthest(failures))


@dataclass(frozen=True, slots=True)
class _Failure:
    """What stopped one try. `stage`: the higher, the further it came."""

    stage: int
    text: str


def _furthest(failures: list[_Failure]) -> str:
    return max(failures, key=lambda one: one.stage).text


def _tries(recipe: Recipe) -> Iterator[Plan | _Failure]:
    """Yield what came of each way to call the model, up to the first that works."""
    name = recipe.model.__name__
    if recipe.size() > _MOST_PARAMETERS:
        yield _Failure(0, f"{name} stays too large")
        return
    try:
        model = recipe.built()
    except Exception as error:  # noqa: BLE001 - a library's code may raise anything
        yield _Failure(1, f"{name} cannot be built: {summary(error)}")
        return
    try:
        for names in argument_sets(model):
            for plan in plans(model, names):
                raised = _run(model, plan)
                if raised is None:
                    yield plan
                    return
                yield _Failure(3, f"{name} does not run: {summary(raised)}")
                if isinstance(raised, _NOT_OF_SHAPES):
                    break
    except CannotDrawError as error:
        yield _Failure(2, f"{name} needs {error}, which cannot be drawn")


# What other shapes of the same arguments would not mend.
_NOT_OF_SHAPES = (AttributeError, KeyError, NotImplementedError, TypeError, UnboundLocalError)


def _run(model: Any, plan: Plan) -> Exception | None:
    """Return what calling `model` raises, or None."""
    try:
        with torch.no_grad():
            model(**drawn(plan, 0))
    except Exception as error:  # noqa: BLE001 - a library's code may raise anything
        return error
    return None
