"""The tables of a preset file, read key by key."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from capturelint.errors import ConfigError


def check_keys(path: Path, table: Mapping[str, object], known: tuple[str, ...]) -> None:
    """Raise `ConfigError` for the first key of `table` that is not `known`."""
    for key in table:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
            raise ConfigError(path, f"unknown key {key!r}; {hint}")


def text_of(path: Path, table: Mapping[str, object], key: str) -> str:
    """Return the text under `key`, which must be there and not empty."""
    if key not in table:
        raise ConfigError(path, f"has no key {key!r}; add it")
    value = table[key]
    if not isinstance(value, str) or not value.strip():
        raise ConfigError(path, f"{key} is {value!r}; write a text in quotes")
    return value


def texts_of(path: Path, table: Mapping[str, object], key: str) -> tuple[str, ...]:
    """Return the list of texts under `key`, without repeats; () where the key is missing."""
    value = table.get(key, [])
    if not isinstance(value, list):
        raise ConfigError(path, f"{key} is {value!r}; write a list of texts")
    texts: list[str] = []
    for item in value:
        if not isinstance(item, str) or not item.strip():
            raise ConfigError(path, f"{key} holds {item!r}; write texts in quotes")
        if item in texts:
            raise ConfigError(path, f"{key} holds {item!r} twice; remove one")
        texts.append(item)
    return tuple(texts)


def tables_of(path: Path, value: object, key: str) -> list[Mapping[str, object]]:
    """Return the `[[key]]` tables that `value` holds."""
    if not isinstance(value, list):
        raise ConfigError(path, f"{key} is {value!r}; write [[{key}]] tables")
    tables: list[Mapping[str, object]] = []
    for item in value:
        if not isinstance(item, dict):
            raise ConfigError(path, f"{key} holds {item!r}; write [[{key}]] tables")
        tables.append(item)
    return tables
