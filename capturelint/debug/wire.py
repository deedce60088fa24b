"""Facts as JSON and back: frozen dataclasses, enums, tuples, mappings, numbers, text and None."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

_Fact = TypeVar("_Fact")

# JSON has no such numbers, and readers other than Python's refuse them.
_NOT_FINITE = ("nan", "inf", "-inf")


class WireError(ValueError):
    """JSON does not hold what it should: it was cut off, or something else wrote it."""

    def __init__(self, wanted: object, found: object) -> None:
        name = getattr(wanted, "__name__", str(wanted))
        super().__init__(f"not a {name}: {str(found)[:80]!r}")


def encode(value: object) -> Any:
    """Return `value` as what `json.dumps` takes. Raises TypeError for a kind that is no fact."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: encode(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, tuple):
        return [encode(one) for one in value]
    if isinstance(value, Mapping):
        return {_key(key): encode(one) for key, one in value.items()}
    raise TypeError(f"cannot send a {type(value).__name__}")


def decode(kind: type[_Fact], jsonable: object) -> _Fact:
    """Return the `kind` that was encoded. Raises `WireError` if `jsonable` does not hold one.

    Nothing is converted: each field has to be there, none may be added, and a number is no text.
    """
    value: _Fact = _decoded(kind, jsonable)
    return value


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"cannot send a mapping by {type(key).__name__}")
    return key


def _decoded(hint: Any, value: object) -> Any:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return _one_of(get_args(hint), value)
    if origin is tuple:
        return _tuple(hint, value)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(hint, value)
    if is_dataclass(hint):
        return _fact(hint, value)
    if issubclass(hint, Enum):
        return _choice(hint, value)
    return _plain(hint, value)


def _plain(hint: type, value: object) -> object:
    if hint is float:
        return _float(value)
    # To Python a truth value is a number; to us it is not.
    if hint not in (str, int, bool, NoneType) or type(value) is not hint:
        raise WireError(hint, value)
    return value


def _float(value: object) -> float:
    if type(value) in (int, float) or value in _NOT_FINITE:
        return float(value)  # type: ignore[arg-type] # a number or one of three words
    raise WireError(float, value)


def _choice(hint: type[Enum], value: object) -> Enum:
    try:
        return hint(value)
    except ValueError:
        raise WireError(hint, value) from None


def _one_of(hints: tuple[Any, ...], value: object) -> object:
    for hint in hints:
        try:
            return _decoded(hint, value)
        except WireError:
            continue
    raise WireError(hints, value)


def _tuple(hint: Any, value: object) -> tuple[object, ...]:
    hints = get_args(hint)
    if not isinstance(value, list):
        raise WireError(hint, value)
    if hints[-1] is Ellipsis:
        return tuple(_decoded(hints[0], one) for one in value)
    if len(hints) != len(value):
        raise WireError(hint, value)
    return tuple(_decoded(kind, one) for kind, one in zip(hints, value, strict=True))


def _mapping(hint: Any, value: object) -> dict[str, object]:
    if not isinstance(value, dict):
        raise WireError(hint, value)
    return {key: _decoded(get_args(hint)[1], one) for key, one in value.items()}


def _fact(kind: Any, value: object) -> object:
    hints = _hints(kind)
    if not isinstance(value, dict) or value.keys() != hints.keys():
        raise WireError(kind, value)
    return kind(**{name: _decoded(hint, value[name]) for name, hint in hints.items()})


@cache
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)
