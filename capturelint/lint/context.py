"""Which files of a package take part in the check of a few of its files: those that import them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from capturelint.lint.reader import Reader

_FROM = re.compile(rb"^[ \t]*from[ \t]+([.\w]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n]*)", re.MULTILINE)
_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([^\n#]*)", re.MULTILINE)
_WORD = re.compile(rb"\w+")


def beside(reader: Reader, paths: Sequence[Path], named: Sequence[Path]) -> list[Path]:
    """Return the files beside `named`, in their packages, that import them and are not in `paths`."""
    known = {os.path.realpath(path) for path in paths}
    folders = {folder for path in named for folder in [reader.modules.package_of(path)] if folder}
    found: list[Path] = []
    for folder in sorted(folders):
        files, reader.seen.packages[str(folder)] = reader.modules.listing(folder)
        found += [path for path in files if os.path.realpath(path) not in known]
    return importers(named, found, reader.seen.read) if found else []


def importers(
    named: Iterable[Path], candidates: Sequence[Path], read: Callable[[Path], bytes | None]
) -> list[Path]:
    """Return the candidates that import a named file, directly or through others.

    `read` gives the bytes of a file, None if it cannot be read.

    Modules are told by their last name, so a file too many may come back, but none too few that
    says in its own text what it imports.
    """
    mentions = {path: _mentioned(path, read(path)) for path in candidates}
    chosen: dict[Path, None] = {}
    wanted = {_name(path) for path in named}
    fresh = set(wanted)
    while fresh:
        found = [
            p for p, words in mentions.items() if p not in chosen and not fresh.isdisjoint(words)
        ]
        chosen.update(dict.fromkeys(found))
        fresh = {_name(path) for path in found} - wanted
        wanted |= fresh
    return list(chosen)


def _name(path: Path) -> bytes:
    """Return the last part of a module's name."""
    stem = path.parent.name if path.stem == "__init__" else path.stem
    return stem.encode("utf-8", "surrogateescape")


def _mentioned(path: Path, text: bytes | None) -> frozenset[bytes]:
    """Return the last names of the modules that a file may import."""
    if text is None:
        return frozenset()
    found: set[bytes] = set()
    for module, names in _FROM.findall(text):
        last = module.rpartition(b".")[2]
        # `from . import x` names the folder's own package and its submodules.
        found.add(last or path.parent.name.encode("utf-8", "surrogateescape"))
        found.update(_WORD.findall(names))
    for modules in _IMPORT.findall(text):
        found.update(
            part.strip().partition(b" ")[0].rpartition(b".")[2] for part in modules.split(b",")
        )
    return frozenset(found)
