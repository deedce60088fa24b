"""The names of modules, told by where their files are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from capturelint.lint.cache.content import digest
from capturelint.lint.discovery import discover

_CLIMB = 12
_SAMPLE = 40


class Modules:
    """Names files as modules, and remembers what folders are."""

    def __init__(self) -> None:
        self._names: dict[Path, str] = {}
        self._folders: dict[str, Path] = {}
        self._packages: dict[Path, bool] = {}
        self._projects: dict[Path, bool] = {}
        self._tops: dict[Path, Path] = {}

    def name_of(self, path: Path) -> tuple[str, bool]:
        """Return the dotted name of a file's module, and whether it is a package's `__init__`."""
        folder = path.parent
        package = self._names.get(folder)
        if package is None:
            package = self._names[folder] = self._package_name(folder.absolute())
        is_package = path.name == "__init__.py"
        if not package:
            return path.stem, is_package
        return package if is_package else f"{package}.{path.stem}", is_package

    def _package_name(self, folder: Path) -> str:
        """Return the dotted name of the package that a folder is, or is inside; "" for none."""
        top = None
        # A package may hold folders without an `__init__.py`; a project's own folder ends the climb.
        for parent in (folder, *folder.parents)[:_CLIMB]:
            if self._is_package(parent):
                top = parent
            elif self._is_project(parent):
                break
        if top is None:
            return ""
        top = self._qualified(top)
        self._folders.setdefault(top.name, top)
        return ".".join(folder.relative_to(top.parent).parts)

    def package_of(self, path: Path) -> Path | None:
        """Return the folder of the top package that a file belongs to, None for a loose file."""
        return self._folders.get(self.name_of(path)[0].partition(".")[0])

    def folder_of(self, top: str) -> Path | None:
        """Return the folder of a top package that a named file belongs to."""
        return self._folders.get(top)

    def listing(self, folder: Path) -> tuple[list[Path], str]:
        """Return all files of a package, and a digest of their names."""
        paths = discover([folder], exclude=(), root=folder)[0]
        named = [(str(path), *self.name_of(path)) for path in paths]
        return paths, digest(repr(named).encode("utf-8", "surrogatepass"))

    def _qualified(self, top: Path) -> Path:
        """Return the folder that names start from: above `top` where its own imports say so.

        `megatron/core/` has an `__init__.py` and `megatron/` none, but its files say
        `from megatron.core import ...`.
        """
        known = self._tops.get(top)
        if known is None:
            parent = top.parent
            wanted = re.compile(
                rf"^\s*(?:from|import)\s+{re.escape(parent.name)}\.{re.escape(top.name)}\b".encode(),
                re.M,
            )
            known = top
            if parent.name.isidentifier() and any(map(wanted.search, _some_texts(top))):
                known = parent
            self._tops[top] = known
        return known

    def _is_project(self, folder: Path) -> bool:
        known = self._projects.get(folder)
        if known is None:
            known = any((folder / name).exists() for name in (".git", "pyproject.toml", "setup.py"))
            self._projects[folder] = known
        return known

    def _is_package(self, folder: Path) -> bool:
        known = self._packages.get(folder)
        if known is None:
            known = (folder / "__init__.py").is_file()
            self._packages[folder] = known
        return known


def _some_texts(folder: Path) -> Iterator[bytes]:
    """Yield the bytes of a few files below a folder, those nearest first."""
    count = 0
    for pattern in ("*.py", "*/*.py", "*/*/*.py"):
        for path in sorted(folder.glob(pattern)):
            if count >= _SAMPLE:
                return
            count += 1
            try:
                yield path.read_bytes()
            except OSError:
                continue
