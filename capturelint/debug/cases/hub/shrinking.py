"""A tiny configuration of the same architecture: fewer layers and experts, smaller everything else."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from capturelint.debug.cases.hub.sizes import (
    PLAIN_TOKENS,
    VOCABULARY,
    Sizes,
    is_head_size,
    is_heads,
    is_layers,
    is_token,
)
from capturelint.debug.cases.signature import parameters

_WIDTHS = (
    "hidden_size d_model n_embd embed_dim embed_dims dim hidden_dim hidden_sizes width".split()
)
_WIDTHS += ["encoder_hidden_size", "decoder_hidden_size", "model_dim"]
_INDICES = re.compile(r"(\w+_)?(indexes|indices|layer_ids?)")
_LEAST_LAYERS = 2
_STEP = 4  # a rotary embedding splits a head in two, and some split it again
_MOST_STAGES = 8
_WINDOW = 8  # tokens
_MOST_LAYERS = 8  # where layers are of many kinds, or many are named


@dataclass(frozen=True, slots=True)
class Shrinkage:
    """How much to shrink, at most.

    `heads`, `head`: what numbers of heads and sizes of a head are divided by, or smaller powers of
    two that suit them. `inner`: what widths inside one layer are. `images`: whether these shrink.
    """

    heads: int = 1
    head: int = 1
    inner: int = 1
    images: bool = False


def shrunk(config: Any, shrinkage: Shrinkage) -> Any:
    """Return a tiny configuration like `config`, of the same class.

    Raises what the class does, if it does not take the values.
    """
    parts = [_settable(part) for part in configs(config)]
    special = sorted(token for token in special_tokens(config) if token >= PLAIN_TOKENS)
    moved = {token: VOCABULARY - 1 - index for index, token in enumerate(special)}
    heads = _largest(shrinkage.heads, lambda by: all(_divides_heads(by, part) for part in parts))
    head = _largest(shrinkage.head, lambda by: all(_divides_widths(by, part) for part in parts))
    sizes = Sizes(heads, head, shrinkage.inner, images=shrinkage.images, tokens=moved)
    return _shrunk(config, sizes)


def configs(config: Any) -> Iterator[Any]:
    """Yield `config` and those of the parts of its model, the outer first."""
    yield config
    for value in vars(config).values():
        if _is_config(value):
            yield from configs(value)


def special_tokens(config: Any) -> frozenset[int]:
    """Return the ids that have a meaning of their own anywhere in a model."""
    found: set[int] = set()
    for part in configs(config):
        for name, value in vars(part).items():
            if is_token(name):
                several = value if isinstance(value, list | tuple) else [value]
                found.update(one for one in several if type(one) is int and one >= 0)
    return frozenset(found)


def _shrunk(config: Any, sizes: Sizes) -> Any:
    untouched = _untouched(config)
    patch = known(config, "patch_size")
    given: dict[str, Any] = {}
    for name, value in _settable(config).items():
        if _is_config(value):
            given[name] = _shrunk(value, sizes)
            continue
        smaller = sizes.smaller(name, value, patch if type(patch) is int else None)
        if smaller != value or known(untouched, name) != value:
            given[name] = smaller
    made: Any = type(config)(**{**given, **_layers(config)})
    missing = _missing(made)
    return type(config)(**{**given, **_layers(config), **missing}) if missing else made


def _missing(config: Any) -> dict[str, Any]:
    """Return what a class leaves open although its models need it."""
    names = parameters(type(config))
    width, heads = known(config, "hidden_size"), known(config, "num_attention_heads")
    found: dict[str, Any] = {}
    if "head_dim" in names and known(config, "head_dim") is None and width and heads:
        found["head_dim"] = width // heads
    slides = "sliding" in str(known(config, "layer_types"))
    if "sliding_window" in names and known(config, "sliding_window") is None and slides:
        found["sliding_window"] = _WINDOW
    return found


def _is_config(value: object) -> bool:
    return hasattr(value, "model_type") and hasattr(value, "to_dict")


def known(config: Any, name: str) -> Any:
    """Return what `config` says about `name`, or None."""
    try:
        return getattr(config, name, None)
    except Exception:  # noqa: BLE001 - some tell nothing for the whole model where layers differ
        return vars(config).get(name)


def _settable(config: Any) -> dict[str, Any]:
    names = [name for name in parameters(type(config)) if name not in ("id2label", "label2id")]
    # A backbone takes it, but its signature does not say so.
    names.append("out_indices")
    values = {name: known(config, name) for name in names}
    return {name: value for name, value in values.items() if value is not None}


def _untouched(config: Any) -> Any:
    try:
        return type(config)()
    except Exception:  # noqa: BLE001 - a class that must be given values: all of them are
        return None


def _layers(config: Any) -> dict[str, Any]:
    """Return numbers and lists of layers such that layers of every kind are there."""
    values = _settable(config)
    numbers = [name for name, value in values.items() if is_layers(name) and type(value) is int]
    count = max((values[name] for name in numbers), default=0)
    if count <= _LEAST_LAYERS:
        return {}
    lists = {name: one for name, one in values.items() if isinstance(one, list | tuple) and one}
    kinds = {name: _distinct(one) for name, one in lists.items() if _is_per_layer(name, one, count)}
    patterns = [one for name, one in lists.items() if "type" in name and len(one) < count]
    indices = {name: one for name, one in lists.items() if _INDICES.fullmatch(name)}
    wanted = [len(one) for one in (*kinds.values(), *patterns)]
    wanted += [len(one) + 1 for one in indices.values()]
    kept = min(max([_LEAST_LAYERS, *wanted]), _MOST_LAYERS, count)
    return (
        {name: kept for name in numbers if values[name] == count}
        | {name: _padded(one, kept) for name, one in kinds.items()}
        | {name: _last(name, len(one), kept) for name, one in indices.items()}
    )


def _is_per_layer(name: str, values: Sequence[object], count: int) -> bool:
    """Return whether a list says something of each layer, rather than of as many stages."""
    says = "layer" in name or any(isinstance(value, str) for value in values)
    return len(values) == count and (says or count > _MOST_STAGES)


def _distinct(values: Sequence[object]) -> list[object]:
    """Return the values that differ, in order of first appearance."""
    return list({str(value): value for value in values}.values())


def _padded(values: list[object], length: int) -> list[object]:
    return (values + [values[-1]] * length)[:length]


def _last(name: str, number: int, kept: int) -> list[int]:
    """Return the indices of the last layers; where they are outputs, layers count from 1."""
    first = kept - min(number, kept) + (name == "out_indices")
    return list(range(first, first + min(number, kept)))


def _largest(most: int, suits: Callable[[int], bool]) -> int:
    """Return the largest power of two up to `most` that suits."""
    while most > 1 and not suits(most):
        most //= 2
    return most


def _divides_heads(by: int, values: Mapping[str, object]) -> bool:
    """Return whether `by` divides every number of heads, and leaves more than one to share keys."""
    heads = {name: _first(value) for name, value in values.items() if is_heads(name)}
    return all(
        number % by == 0 and (number > by or "key_value" in name)
        for name, number in heads.items()
        if number > 1
    )


def _divides_widths(by: int, values: Mapping[str, object]) -> bool:
    """Return whether `by` divides the size of each head, and leaves it even."""
    numbers = [_first(value) for name, value in values.items() if is_heads(name)]
    widths = [_first(values[name]) for name in _WIDTHS if name in values]
    sizes = [
        width // number for width in widths for number in numbers if number and width % number == 0
    ]
    sizes += [_first(value) for name, value in values.items() if is_head_size(name)]
    return all(size % (by * _STEP) == 0 for size in sizes if size % _STEP == 0)


def _first(value: object) -> int:
    one = value[0] if isinstance(value, list | tuple) and value else value
    return one if type(one) is int else 0
