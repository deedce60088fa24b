"""Find the Python files and notebooks under files and folders."""

# ruff: noqa: PTH112, PTH118, PTH206 - a large tree has thousands of entries, and Path objects are slow

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from capturelint.errors import CapturelintError

_SUFFIXES = (".py", ".ipynb")
_SKIPPED = frozenset({"__pycache__", "__pypackages__", "node_modules"})
# These are names of build results and environments, but also of packages: setuptools, torch and
# others have one. Only those without an `__init__.py` are left out.
_SKIPPED_UNLESS_PACKAGE = frozenset({"build", "dist", "env", "venv"})


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a file or folder was not read. Lines count from 1, columns from 0 in characters."""

    path: Path
    line: int
    column: int
    message: str


class BadPatternError(CapturelintError):
    """A pattern of files to leave out cannot be understood."""

    def __init__(self, patterns: Sequence[str], problem: Exception) -> None:
        shown = ", ".join(repr(pattern) for pattern in patterns)
        super().__init__(f"bad `exclude` {shown}: {problem}; patterns are as in .gitignore")


def discover(
    paths: Iterable[Path], *, exclude: Sequence[str], root: Path
) -> tuple[list[Path], list[Problem]]:
    """Return the Python files and notebooks under `paths`, sorted and each once, and what could not be listed.

    A file in `paths` is taken whatever its name. `exclude` holds patterns as in .gitignore, relative
    to `root`; they apply to `paths` too. Hidden folders, environments and build results are left
    out. A folder reached by a symbolic link is walked unless it is walked under its own name.
    """
    walk = _Walk(_matcher(exclude, root))
    for path in paths:
        walk.start(os.fspath(path))
    walk.follow_links()
    shown = sorted(walk.files.values(), key=lambda path: path.split(os.sep))
    return [Path(path) for path in shown], walk.problems


def _matcher(exclude: Sequence[str], root: Path) -> Callable[[str], bool] | None:
    """Return what tells whether a real path is left out; a folder's must end with a slash."""
    if not exclude:
        return None
    import pathspec  # only here: most runs exclude nothing, and it costs a tenth of the start

    try:
        spec = pathspec.GitIgnoreSpec.from_lines(exclude)
    except (ValueError, re.error) as error:
        raise BadPatternError(exclude, error) from error
    prefix = os.path.join(os.path.realpath(root), "")

    def is_excluded(path: str) -> bool:
        return spec.match_file(path[len(prefix) :] if path.startswith(prefix) else path.lstrip("/"))

    return is_excluded


@dataclass(slots=True)
class _Walk:
    """One search. `files` maps real paths to paths as they are shown; strings, for speed."""

    is_excluded: Callable[[str], bool] | None
    files: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    folders: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)

    def start(self, shown: str) -> None:
        """Add one path that the user named."""
        real = os.path.realpath(shown)
        is_folder = os.path.isdir(shown)
        if self.is_excluded is not None and self.is_excluded(real + "/" * is_folder):
            return
        if is_folder:
            self.walk(shown, real)
        elif os.path.lexists(shown):
            self.files.setdefault(real, shown)
        else:
            self._note(shown, "no such file or folder")

    def follow_links(self) -> None:
        """Add what symbolic links lead to, once everything has been seen under its own name."""
        while self.links:
            shown, holder = self.links.pop()
            real = os.path.realpath(shown)
            if not os.path.isdir(real):
                self._add_file(shown, real)
            elif os.path.join(holder, "").startswith(os.path.join(real, "")):
                self._note(shown, f"symbolic link loops back to {real}; not followed")
            else:
                self.walk(shown, real)

    def walk(self, shown: str, real: str) -> None:
        """Add the files under a folder. Links are kept for later."""
        pending = [(shown, real)]
        while pending:
            shown, real = pending.pop()
            if real in self.folders:
                continue
            self.folders.add(real)
            pending += self._list(shown, real)

    def _list(self, shown: str, real: str) -> list[tuple[str, str]]:
        """Add the files in one folder and return the folders in it."""
        try:
            with os.scandir(shown) as listing:
                entries = list(listing)
        except OSError as error:
            self._note(shown, f"folder cannot be listed: {error.strerror}")
            return []
        folders = []
        for entry in entries:
            name = entry.name
            inside = os.path.join(real, name)
            if entry.is_dir(follow_symlinks=False):
                if not self._is_skipped(entry, inside):
                    folders.append((_joined(shown, name), inside))
            elif self._is_wanted(entry, inside):
                if entry.is_symlink():
                    self.links.append((_joined(shown, name), real))
                else:
                    self.files.setdefault(inside, _joined(shown, name))
        return folders

    def _is_skipped(self, entry: os.DirEntry[str], real: str) -> bool:
        name = entry.name
        if name.startswith(".") or name in _SKIPPED:
            return True
        if name in _SKIPPED_UNLESS_PACKAGE and not _holds(entry, "__init__.py"):
            return True
        if self.is_excluded is not None and self.is_excluded(real + "/"):
            return True
        return _holds(entry, "pyvenv.cfg")

    def _is_wanted(self, entry: os.DirEntry[str], real: str) -> bool:
        is_link = entry.is_symlink()
        # An editor marks a file as open by a link to nowhere, such as `.#model.py`.
        if not entry.name.endswith(_SUFFIXES) if not is_link else entry.name.startswith("."):
            return False
        if self.is_excluded is None:
            return True
        return not self.is_excluded(real + "/" * (is_link and entry.is_dir()))

    def _add_file(self, shown: str, real: str) -> None:
        """Add what a symbolic link that is not to a folder leads to, which may be nothing."""
        if shown.endswith(_SUFFIXES):
            self.files.setdefault(real if os.path.lexists(real) else shown, shown)

    def _note(self, shown: str, message: str) -> None:
        self.problems.append(Problem(Path(shown), 1, 0, message))


def _joined(folder: str, name: str) -> str:
    return name if folder == "." else os.path.join(folder, name)


def _holds(folder: os.DirEntry[str], name: str) -> bool:
    return os.path.lexists(os.path.join(folder.path, name))
