"""Which classes of transformers make a model of a configuration, the likeliest first."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import torch

from capturelint.debug.cases.signature import parameters

# What an engine would serve comes before what is trained with.
_FIRST = (
    "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING",
    "MODEL_FOR_SPEECH_SEQ_2_SEQ_MAPPING",
    "MODEL_FOR_MASKED_LM_MAPPING",
    "MODEL_FOR_CAUSAL_LM_MAPPING",
    "MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING",
    "MODEL_FOR_MULTIMODAL_LM_MAPPING",
    "MODEL_MAPPING",
)


def model_classes(config: type) -> tuple[Any, ...]:
    """Return the model classes of a configuration class: of the auto classes, or of its own file."""
    return tuple(dict.fromkeys(_automatic(config))) or tuple(_in_its_file(config))


def _automatic(config: type) -> Iterator[Any]:
    auto = import_module("transformers.models.auto.modeling_auto")
    names = [name for name in vars(auto) if name.startswith("MODEL_") and name.endswith("_MAPPING")]
    for name in dict.fromkeys((*_FIRST, *names)):
        mapping = getattr(auto, name, {})
        try:
            found = mapping.get(config, ())
        except (
            ImportError,
            ValueError,
        ):  # a class that the installed version lacks or cannot import
            continue
        yield from found if isinstance(found, tuple) else (found,)


def _in_its_file(config: type) -> Iterator[Any]:
    """Yield the classes beside a configuration that only parts of larger models have."""
    name = config.__module__.replace(".configuration_", ".modeling_")
    try:
        home = import_module(name)
    except ImportError:
        return
    for found in vars(home).values():
        if isinstance(found, type) and _is_made_of(found, config) and not _is_abstract(found):
            yield found


def _is_made_of(model: type, config: type) -> bool:
    """Return whether a class says that it is made of `config`, or takes it when it is made."""
    taken = parameters(model).get("config")
    return getattr(model, "config_class", None) is config or (
        taken is not None and taken.annotation is config and hasattr(model, "main_input_name")
    )


def _is_abstract(model: Any) -> bool:
    return not hasattr(model, "forward") or model.forward is torch.nn.Module.forward
