"""Which arguments a model is called with: those it needs, then more, until it runs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product
from typing import Any

from capturelint.debug.cases.hub.draws import Draw, Fixed, Padding
from capturelint.debug.cases.hub.options import options
from capturelint.debug.cases.signature import parameters

Plan = dict[str, Draw]

# Tried one after the other on top of what a model needs by its signature.
_MORE = tuple(
    names.split()
    for names in (
        "",
        "decoder_input_ids",
        "pixel_values",
        "input_ids attention_mask",
        "input_features",
        "input_values",
        "bbox",
        "pixel_values bbox",
        "pixel_values pixel_attention_mask spatial_shapes",
        "pixel_values_videos",
        "encoder_hidden_states",
        "inputs_embeds",
        "pixel_values qformer_input_ids",
        "input_points",
        "future_values future_time_features",
    )
)
_MOST_PLANS = 10  # for one set of arguments
MODALITIES = ("pixel_values", "pixel_values_videos", "input_features", "input_values")


class CannotDrawError(ValueError):
    """Nobody can tell what a required argument of this name is."""


def argument_sets(model: Any) -> Iterator[list[str]]:
    """Yield names of arguments to call `model` with, the fewest that may do first."""
    taken = arguments(model)
    base = _needed(model, taken)
    sets = (dict.fromkeys((*base, *(name for name in more if name in taken))) for more in _MORE)
    for names in dict.fromkeys(tuple(one) for one in sets):
        yield list(names)


def plans(model: Any, names: list[str]) -> Iterator[Plan]:
    """Yield what these arguments may be, the likeliest first.

    Raises `CannotDrawError` if one of them is not known.
    """
    masks = [name for name in names if name.endswith("mask")]
    drawn = [name for name in names if name not in masks]
    choices = [options(model.config, name) for name in drawn]
    for name, choice in zip(drawn, choices, strict=True):
        if not choice:
            raise CannotDrawError(name)
    for one in islice(product(*choices), _MOST_PLANS):
        plan = dict(zip(drawn, one, strict=True))
        yield plan | {name: _mask(model, name, plan) for name in masks}


def arguments(model: Any) -> list[str]:
    """Return what the forward of `model` can be given by name."""
    return [
        name
        for name, one in parameters(model.forward).items()
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
    ]


def _needed(model: Any, taken: list[str]) -> list[str]:
    main = model.main_input_name
    names = [main] if isinstance(main, str) else list(main)
    names += [name for name, one in parameters(model.forward).items() if one.default is one.empty]
    if getattr(model.config, "is_encoder_decoder", False):
        names.append("decoder_input_ids")
    if "input_ids" in names:
        names.append("attention_mask")
    return [name for name in dict.fromkeys(names) if name in taken]


def _mask(model: Any, name: str, plan: Plan) -> Draw:
    """Return the mask of what `name` belongs to: the argument of a like name, else the first."""
    if name == "attention_mask" and "input_ids" in plan:
        left = not getattr(model.config, "is_encoder_decoder", False) and model.can_generate()
        return Padding(plan["input_ids"].shape[:2], left)
    stem = name.removesuffix("_mask").removesuffix("_observed").removesuffix("_attention")
    owner = next((one for key, one in plan.items() if key.startswith(stem)), None)
    shape = (owner or next(iter(plan.values()))).shape
    return Fixed(shape if name == "past_observed_mask" else shape[:2], (1,))
