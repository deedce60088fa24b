"""What each callable of a case receives, read from what the user gave, and named."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from inspect import Parameter
from typing import Any, TypeAlias

import torch

from capturelint.debug.cases.case import ARGUMENTS, Case, is_arguments
from capturelint.debug.cases.mistakes import CaseError, kind_of
from capturelint.debug.cases.signature import parameters
from capturelint.debug.trees.trees import leaves

Arguments: TypeAlias = tuple[tuple[Any, ...], dict[str, Any]]
Calls: TypeAlias = dict[str, Arguments]  # by callable


def calls_from(case: Case, value: object, label: str) -> Calls:
    """Return the arguments of each callable that `value`, named `label`, holds.

    Raises `CaseError` if it holds none.
    """
    if not isinstance(case.callables, Mapping):
        return {"": _arguments(value, label)}
    names = ", ".join(case.callables)
    if not isinstance(value, Mapping) or set(value) != set(case.callables):
        found = (
            f"has {', '.join(map(str, value))}" if isinstance(value, Mapping) else kind_of(value)
        )
        verb = "" if isinstance(value, Mapping) else "is "
        raise CaseError(f"{label} {verb}{found}; give a mapping of {names} to their inputs")
    return {name: _arguments(value[name], f"{label}[{name!r}]") for name in case.callables}


def named(case: Case, calls: Calls) -> dict[str, object]:
    """Return all arguments by name, those of several callables as `draft.input_ids`."""
    return {
        f"{name}.{argument}" if name else argument: value
        for name, function in case.named.items()
        for argument, value in _named(function, calls[name]).items()
    }


def tensors(arguments: Mapping[str, object]) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield the tensors in named arguments with their names, such as `cache.layers[0].keys`."""
    for argument, value in arguments.items():
        for leaf in leaves(value):
            if isinstance(leaf.value, torch.Tensor):
                dot = "" if leaf.path[:1] in ("", "[", ".") else "."
                yield f"{argument}{dot}{leaf.path}", leaf.value


def _arguments(value: object, label: str) -> Arguments:
    if not is_arguments(value):
        raise CaseError(f"{label} is {kind_of(value)}; {ARGUMENTS}")
    if isinstance(value, Mapping):
        return (), _keywords(value, label)
    if not isinstance(value, tuple):
        return (value,), {}
    match value:
        case (tuple() as args, Mapping() as kwargs):
            return args, _keywords(kwargs, f"{label}[1]")
    return value, {}


def _keywords(value: Mapping[Any, Any], label: str) -> dict[str, Any]:
    for key in value:
        if not isinstance(key, str):
            raise CaseError(f"{label} has the key {key!r}; name each argument by text")
    return dict(value)


def _named(function: Callable[..., Any], arguments: Arguments) -> dict[str, object]:
    """Return arguments by name, or as `[0]` where none is known."""
    args, kwargs = arguments
    # A module takes what its forward takes.
    taken = parameters(getattr(function, "forward", function)).values()
    names = [one.name for one in taken if one.kind in _BY_POSITION]
    names += [f"[{index}]" for index in range(len(names), len(args))]
    return dict(zip(names, args, strict=False)) | kwargs


_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
