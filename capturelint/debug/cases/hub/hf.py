"""A case for a model type of transformers: tiny, with random weights and drawn inputs."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.hub.draws import drawn
from capturelint.debug.cases.hub.families import model_classes
from capturelint.debug.cases.hub.givens import givens
from capturelint.debug.cases.hub.plans import MODALITIES, Plan, arguments
from capturelint.debug.cases.hub.search import CannotMakeError, Recipe, recipe_of
from capturelint.debug.cases.mistakes import CaseError, summary
from capturelint.debug.cases.requirements import require

_KINDS = {
    "input_ids": "text",
    "pixel_values": "images",
    "pixel_values_videos": "videos",
    "input_features": "sound",
    "input_values": "sound",
}
_INSTEAD = "write a factory: FILE.py:make"


def hf_case(name: str) -> Callable[[], Case]:
    """Return what makes a case of `name`: `llama`, or with a class `llama:LlamaModel`.

    Never downloads. Raises `CaseError` if there is no such type or it cannot be made tiny and run.
    """
    kind, _, cls = name.partition(":")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        config = _config(kind)
        models = _classes(kind, type(config), cls)
        try:
            recipe, plan = recipe_of(config, models)
        except CannotMakeError as error:
            raise CaseError(f"hf:{name}: {error}; {_INSTEAD}") from error
    return lambda: _case(name, recipe, plan)


def _case(name: str, recipe: Recipe, plan: Plan) -> Case:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = recipe.built()
    return Case(model, lambda seed: drawn(plan, seed), notes=tuple(_notes(name, model, plan)))


def _notes(name: str, model: Any, plan: Plan) -> Iterable[str]:
    size = sum(one.numel() for one in model.parameters())
    attention = getattr(model.config, "_attn_implementation", None)
    kernel = f", attention: {attention}" if attention else ""
    yield f"hf:{name}: {type(model).__name__} with random weights, {size:,} parameters{kernel}"
    yield f"hf:{name}: inputs: {_inputs(plan)}"
    left_out = [one for one in MODALITIES if one in arguments(model) and one not in plan]
    if left_out:
        yield f"hf:{name}: not drawn: {', '.join(left_out)}; {_INSTEAD} to judge what they run"


def _inputs(plan: Plan) -> str:
    """Return what is drawn: of which modalities, and the shape of each argument."""
    kinds = dict.fromkeys(_KINDS[one] for one in plan if one in _KINDS)
    shapes = ", ".join(f"{one} {_shape(draw.shape)}" for one, draw in plan.items())
    return f"{' and '.join(kinds)}, {shapes}" if kinds else shapes


def _shape(sizes: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, sizes))})"


def _config(kind: str) -> Any:
    transformers = _transformers()
    known = list(transformers.CONFIG_MAPPING)
    if kind not in known:
        near = get_close_matches(kind, known, n=1)
        hint = f"did you mean hf:{near[0]}?" if near else "name one such as hf:llama"
        raise CaseError(
            f"hf:{kind}: transformers {transformers.__version__} has no such type; {hint}"
        )
    try:
        return transformers.CONFIG_MAPPING[kind](**givens(kind))
    except Exception as error:
        raise CaseError(
            f"hf:{kind}: its configuration cannot be made without values: {summary(error)}; {_INSTEAD}"
        ) from error


def _classes(kind: str, config: type, wanted: str) -> tuple[Any, ...]:
    if not wanted:
        found = model_classes(config)
        if not found:
            raise CaseError(
                f"hf:{kind}: transformers has no model of {config.__name__}; {_INSTEAD}"
            )
        return found
    transformers = _transformers()
    model = getattr(transformers, wanted, None)
    if model is None:
        known = [one.__name__ for one in model_classes(config)]
        near = get_close_matches(wanted, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(known)}"
        raise CaseError(f"hf:{kind}:{wanted}: transformers has no such class; {hint}")
    return (model,)


def _transformers() -> Any:
    require("transformers")
    # Read when it is imported: a model that would fetch something fails at once instead.
    os.environ["HF_HUB_OFFLINE"] = "1"
    try:
        transformers = import_module("transformers")
    except Exception as error:
        raise CaseError(
            f"importing transformers raised {summary(error)}; mend its installation"
        ) from error
    transformers.logging.set_verbosity_error()
    return transformers
