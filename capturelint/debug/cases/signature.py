"""Which keywords a user's factory or input function takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

# A batch of one hides mistakes in the batch dimension.
_BATCH = 2


def accepted(function: Callable[..., Any], seed: int) -> dict[str, object]:
    """Return those of the keywords we can give that `function` names.

    They are `device`, `seed` and, where it has no default, `batch_size`.
    """
    offered = {"device": "cuda", "seed": seed, "batch_size": _BATCH}
    return {
        name: offered[name]
        for name, one in parameters(function).items()
        if name in offered
        and one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)
        and (name != "batch_size" or one.default is one.empty)
    }


def required(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return what `function` must be given beyond the `accepted` keywords."""
    given = accepted(function, 0)
    return tuple(
        name
        for name, one in parameters(function).items()
        if one.default is one.empty
        and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
        and name not in given
    )


def parameters(function: Callable[..., Any]) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of `function` by name; none where it does not tell them."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # builtins, and objects with a made-up signature
        return {}
