"""What was evaluated in a run, in a cache file of its own that only a changed function needs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from capturelint.lint.cache.folder import CacheFolder
from capturelint.lint.evaluated import Evaluated

_FOLDER = "evaluations"
_MOST = 8

_dumps = json.JSONEncoder(separators=(",", ":")).encode


def save(folder: CacheFolder, key: str, token: str, evaluated: Evaluated) -> None:
    """Keep what was evaluated in the run `key`. `token` ties it to the findings of the same run."""
    folder.save(_name(key), _pieces(token, evaluated))
    folder.prune(_FOLDER, _MOST)


# What was read back is sealed, so it is what `save` made; the types are not proven again.
def load(folder: CacheFolder, key: str, token: str) -> Evaluated | None:
    """Return what was kept of the run `key`, None if it is not that of `token`."""
    kept: Any = folder.load(_name(key))
    return None if kept is None or kept[0] != token else Evaluated(*kept[1:])


def _pieces(token: str, evaluated: Evaluated) -> Iterator[str]:
    """Yield all as JSON, the records of one file at a time."""
    yield f"[{_dumps(token)}"
    for field in fields(evaluated):
        value = getattr(evaluated, field.name)
        if isinstance(value, dict):
            comma = ",{"
            for path, text in value.items():
                yield f"{comma}{_dumps(path)}:{_dumps(text)}"
                comma = ","
            yield "}" if value else ",{}"
        else:
            yield f",{_dumps(value)}"
    yield "]"


def _name(key: str) -> str:
    return f"{_FOLDER}/{key}.json"
