"""Facts of files kept from run to run: one cache file for each source folder."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capturelint.lint.cache.content import Stamp, digest, has_stamp, stamp_of
from capturelint.lint.cache.facts import Named, decode
from capturelint.lint.cache.folder import CacheFolder
from capturelint.lint.discovery import Problem
from capturelint.lint.files import UnreadableFileError, read_data
from capturelint.names import FileFacts

_FOLDER = "facts"
_MOST_FOLDERS = 10_000


@dataclass(frozen=True, slots=True)
class Kept:
    """Facts of one file, and what it held; `said` is a digest of all but their lines."""

    result: FileFacts | Problem
    digest: str
    stamp: Stamp | None
    said: str


@dataclass(frozen=True, slots=True)
class Fresh:
    """What is to be kept of one file: the parts of its facts as JSON, and what it held."""

    named: Named
    said: str
    lines: str
    digest: str
    stamp: Stamp | None


class FactsStore:
    """Facts of files in a cache folder. `tool` tells which capturelint and Python made them."""

    def __init__(self, folder: CacheFolder, tool: str) -> None:
        self._folder = folder
        self._tool = tool
        self._at = ""
        self._rows: dict[str, Any] = {}
        self._home = ""
        self._fresh: list[Fresh] = []

    def find(self, named: Named) -> Kept | None:
        """Return what is known of a file as it is now, None if nothing is."""
        path, module, is_package = named
        home, name = os.path.split(os.path.abspath(path))  # noqa: PTH100 - for speed
        if home != self._at:
            # Files come in order of their folders; one folder at a time is enough.
            self._at, self._rows = home, self._load(home)
        row = self._rows.get(name)
        if row is None or row[0] != module or row[1] is not is_package:
            return None
        known, stamp = row[2], row[3] and tuple(row[3])
        if not has_stamp(str(path), stamp):
            try:
                data, status = read_data(path)
            except UnreadableFileError:
                return None
            if digest(data) != known:
                return None
            stamp = stamp_of(status)
        return Kept(decode(named, row[5], row[6]), known, stamp, row[4])

    def keep(self, one: Fresh) -> None:
        """Add what was found of a file, once all of its folder are there; `finish` says that."""
        if one.digest.startswith("!"):
            return
        home = os.path.dirname(os.path.abspath(one.named[0]))  # noqa: PTH100, PTH120
        if home != self._home:
            # Files come in order of their folders, and what is kept of one takes much room.
            self._save()
            self._home = home
        self._fresh.append(one)

    def finish(self) -> None:
        """Write what is left to be written; of files that are gone nothing stays."""
        if self._fresh:
            self._save()
            self._folder.prune(_FOLDER, _MOST_FOLDERS)

    def _save(self) -> None:
        """Write what was found in one folder."""
        home, fresh, self._fresh = self._home, self._fresh, []
        self._home = ""
        if not fresh:
            return
        rows = dict(self._left(home, {one.named[0].name for one in fresh}))
        rows.update((one.named[0].name, _row(one)) for one in fresh)
        texts = (f"{json.dumps(name)}:{row}" for name, row in rows.items())
        head = json.dumps([self._tool, home])
        self._folder.save(_name(home), (f"[{head},{{", ",".join(texts), "}]"))
        self._at, self._rows = "", {}

    def _left(self, home: str, besides: set[str]) -> Iterator[tuple[str, str]]:
        for name, row in self._load(home).items():
            if name not in besides and Path(home, name).is_file():
                yield name, json.dumps(row, separators=(",", ":"))

    def _load(self, home: str) -> dict[str, Any]:
        found: Any = self._folder.load(_name(home))
        if found is None or found[0] != [self._tool, home]:
            return {}
        rows: dict[str, Any] = found[1]
        return rows


def _row(one: Fresh) -> str:
    _, module, is_package = one.named
    head = json.dumps([module, is_package, one.digest, one.stamp, digest(one.said.encode())])
    return f"{head[:-1]},{one.said},{one.lines}]"


def _name(home: str) -> str:
    return f"{_FOLDER}/{digest(os.fsencode(home))[:32]}.json"
