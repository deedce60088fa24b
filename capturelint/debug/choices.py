"""Settings as a Python caller gives them: names and values are checked, one clear line each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, get_args, get_type_hints

from capturelint.debug import backends
from capturelint.debug.settings import Settings
from capturelint.debug.wire import WireError, decode, encode
from capturelint.errors import CapturelintError

_HINTS: Mapping[str, Any] = get_type_hints(Settings)
_WORDS = ("modules", "skip", "redraw", "batch_dim")
_DTYPES: Mapping[str, tuple[str, ...]] = {
    "dtype": ("float16", "bfloat16", "float32", "float64"),
    "autocast": ("float16", "bfloat16"),
}
_MODES = ("global", "thread_local", "relaxed")
_LEAST: Mapping[str, int] = {
    "replays": 1,
    "warmup": 0,
    "rtol": 0,
    "atol": 0,
    "seed": 0,
    "record_limit": 1,
    "soak": 0,
}


class UnknownSettingError(CapturelintError, TypeError):
    """A setting was given that does not exist."""

    def __init__(self, name: str) -> None:
        near = get_close_matches(name, _HINTS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"the settings are {', '.join(_HINTS)}"
        super().__init__(f"there is no setting {name!r}; {hint}")


class BadSettingError(CapturelintError, ValueError):
    """A setting has a value that it cannot have."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        super().__init__(f"{name} is {str(value)[:60]!r}; it must be {allowed}")


def settings_from(given: Mapping[str, object]) -> Settings:
    """Return the settings with the given ones changed.

    Globs and names may come as one text or several; a dtype as its name or as torch has it.
    Raises `UnknownSettingError`, `BadSettingError` or `BackendError`.
    """
    for name in given:
        if name not in _HINTS:
            raise UnknownSettingError(name)
    settings = Settings(**{name: _value(name, value) for name, value in given.items()})
    backends.check(settings.backend)
    return settings


def _value(name: str, value: object) -> Any:
    if name in _WORDS:
        value = _words(name, value)
    if name in _DTYPES and value is not None:
        # torch need not be imported to know how it writes a dtype.
        value = str(value).removeprefix("torch.")
        if value not in _DTYPES[name]:
            raise BadSettingError(name, value, f"one of {', '.join(_DTYPES[name])}")
    try:
        known: object = decode(_HINTS[name], encode(value))
    except (WireError, TypeError):
        raise BadSettingError(name, value, f"of type {_in_words(_HINTS[name])}") from None
    if name == "capture_error_mode" and known not in _MODES:
        raise BadSettingError(name, value, f"one of {', '.join(_MODES)}")
    # The comparisons are this way round because they have to fail for nan.
    if name in _LEAST and isinstance(known, int | float) and not known >= _LEAST[name]:
        raise BadSettingError(name, value, f"{_LEAST[name]} or more")
    if name == "timeout" and isinstance(known, float) and not known > 0:
        raise BadSettingError(name, value, "more than 0 seconds")
    return known


def _words(name: str, value: object) -> tuple[object, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        return tuple(value)
    raise BadSettingError(name, value, "text, or several in a list")


def _in_words(hint: Any) -> str:
    # Before Python 3.11, `tuple[str, ...]` is a type to `isinstance` and calls itself `tuple`.
    is_plain = isinstance(hint, type) and not get_args(hint)
    return hint.__name__ if is_plain else str(hint)
