"""Find the configuration, class and inputs with which a tiny model of a type runs, by trying."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import torch

from capturelint.debug.hub.draws import drawn
from capturelint.debug.hub.plans import CannotDrawError, Plan, plans
from capturelint.debug.hub.shrinking import shrunk
from capturelint.debug.mistakes import summary

_PATIENCE = 60.0  # seconds
_MOST_PARAMETERS = 100_000_000
# By how much heads shrink, and whether images do: those cut into windows cannot always.
_ATTEMPTS = ((4, True), (4, False), (1, False))
_MOST_CLASSES = 3


@dataclass(frozen=True, slots=True)
class Recipe:
    """How to make one tiny model. `model`: its class. `config`: of full size."""

    model: Any
    config: Any
    most: int
    images: bool

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
        config = shrunk(self.config, most=self.most, images=self.images)
        return self.model._from_config(config)  # noqa: SLF001 - from_config of the auto classes calls it


class CannotMakeError(ValueError):
    """No try led to a model that runs. Its text says what stopped the one that came furthest."""


def recipe_of(config: Any, models: Iterable[Any]) -> tuple[Recipe, Plan]:
    """Return how to make a tiny model of one of the classes `models`, and what to call it with.

    Runs models on the CPU, and takes up to a minute. Raises `CannotMakeError`.
    """
    failures: list[_Failure] = []
    end = time.monotonic() + _PATIENCE
    for model, (most, images) in product(tuple(models)[:_MOST_CLASSES], _ATTEMPTS):
        recipe = Recipe(model, config, most, images)
        for outcome in _tries(recipe):
            if isinstance(outcome, dict):
                return recipe, outcome
            failures.append(outcome)
            if time.monotonic() > end:
                break
    raise CannotMakeError(max(failures, key=lambda one: one.stage).text)


@dataclass(frozen=True, slots=True)
class _Failure:
    """What stopped one try. `stage`: the higher, the further it came."""

    stage: int
    text: str


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
        for plan in plans(model):
            failure = _failure(model, plan)
            yield failure or plan
    except CannotDrawError as error:
        yield _Failure(2, f"{name} needs {error}, which cannot be drawn")


def _failure(model: Any, plan: Plan) -> _Failure | None:
    try:
        with torch.no_grad():
            model(**drawn(plan, 0))
    except Exception as error:  # noqa: BLE001 - a library's code may raise anything
        return _Failure(3, f"{type(model).__name__} does not run: {summary(error)}")
    return None
