"""What a run's answer rests on besides the checked files: this tool, its rules, Python, libcst."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from capturelint import __version__
from capturelint.bundle import bundled
from capturelint.lint.cache.content import digest

_FORMAT = 1
_CODE = (".py", ".toml")
# Rules may read any file beside them, but for what Python, git and capturelint write.
_MADE = frozenset({"__pycache__", ".git", ".capturelint_cache"})
_MOST_FILES = 2_000


def tool_digest() -> str:
    """Return what tells this capturelint and this Python from others."""
    own = [Path(__file__).parents[2], bundled("rules")]
    versions = [_FORMAT, __version__, sys.version, sys.platform, _libcst()]
    return digest(json.dumps([versions, code_in(own)]).encode())


def code_in(folders: Iterable[Path]) -> list[list[object]]:
    """Return path, size and times of each code file below folders, which need not exist."""
    return [one for folder in folders for one in sorted(_walked(os.fspath(folder)))]


def all_in(folders: Iterable[Path]) -> list[list[object]] | None:
    """Return path, size and times of every file below folders; None where that cannot be told.

    That is where there are too many of them, or links to folders, or what is no file.
    """
    found: list[list[object]] = []
    pending = [os.fspath(folder) for folder in folders]
    while pending:
        try:
            entries = list(os.scandir(pending.pop()))
        except OSError:
            return None
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in _MADE:
                    pending.append(entry.path)
            elif entry.is_file():
                found.append(_shown(entry.path))
            else:
                return None
        if len(found) > _MOST_FILES:
            return None
    return sorted(found, key=lambda one: str(one[0]))


def _walked(folder: str) -> Iterator[list[object]]:
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        if entry.name.endswith(_CODE):
            yield _shown(entry.path)
        elif entry.is_dir() and not entry.is_symlink() and entry.name[:1] not in "._":
            yield from _walked(entry.path)


def _shown(path: str) -> list[object]:
    try:
        status = os.stat(path)  # noqa: PTH116 - a Path for each file costs more than the call
    except OSError:
        return [path]
    return [path, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def _libcst() -> list[object]:
    """Return what tells this libcst from others, without importing it."""
    spec = importlib.util.find_spec("libcst")
    if spec is None or spec.origin is None:
        return []
    return _shown(str(Path(spec.origin).with_name("_version.py")))
