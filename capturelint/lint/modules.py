"""The names of modules, told by where their files are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from capturelint.lint.cache.content import digest
from capturelint.lint.discovery import discover
from capturelint.lint.files import UnreadableFileError, read_data
from capturelint.lint.homes import CLAIMED, roots_of

_CLIMB = 12
_SAMPLE = 40
_RELATIVE = re.compile(rb"^[ \t]*from[ \t]+\.", re.M)
# A name that is imported, and the first part of it or what is taken from it.
_IMPORTED = re.compile(
    rb"^[ \t]*(?:from|import)[ \t]+(\w+)(?:\.|[ \t]+import[ \t]+\(?\s*)(\w+)", re.M
)
_PACKAGES = 8
_NEAREST = ("*.py", "*/*.py", "*/*/*.py")


class Modules:
    """Names files as modules, and remembers what folders are. `root` is that of the project."""

    def __init__(self, root: Path) -> None:
        self._roots = [Path(one) for one in roots_of(root)]
        self._spaces: dict[Path, bool] = {}
        self._said: dict[Path, set[tuple[bytes, bytes]]] = {}
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
        top = self._space_of(folder) if top is None else self._qualified(top)
        if top is None:
            return ""
        self._folders.setdefault(top.name, top)
        return ".".join(folder.relative_to(top.parent).parts)

    def package_of(self, path: Path) -> Path | None:
        """Return the folder of the top package that a file belongs to, None for a loose file."""
        return self._folders.get(self.name_of(path)[0].partition(".")[0])

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
            if parent.name.isidentifier() and (
                any(wanted.search(text) for _, text in _some_texts(top))
                or (parent.parent in self._roots and self._is_space(parent))
            ):
                known = parent
            self._tops[top] = known
        return known

    def _space_of(self, folder: Path) -> Path | None:
        """Return the folder in a root that a folder without packages around it is named from.

        None where it is named from nowhere: its files are scripts.
        """
        for root in self._roots:
            if folder != root and folder.is_relative_to(root):
                inner = folder.relative_to(root).parts
                top = root / inner[0]
                if all(map(str.isidentifier, inner)) and self._is_space(top):
                    return top
        return None

    def _is_space(self, top: Path) -> bool:
        """Return whether imports name modules in a folder of a root that has no `__init__.py`."""
        known = self._spaces.get(top)
        if known is None:
            is_apart = top.name in CLAIMED or self._is_project(top)
            known = self._spaces[top] = not is_apart and self._is_imported(top)
        return known

    def _is_imported(self, top: Path) -> bool:
        for path, text in _some_texts(top):
            if _has(top, _IMPORTED.findall(text)):
                return True
            if self._climbs(path, top, text):
                return True
        return _has(top, self._said_beside(top.parent))

    def _said_beside(self, root: Path) -> set[tuple[bytes, bytes]]:
        """Return what files in a root, and in the packages there, import: names, each with a part of it."""
        known = self._said.get(root)
        if known is None:
            packages = [one for one in sorted(root.iterdir()) if self._is_package(one)]
            texts = chain(_some_texts(root, ("*.py",)), *map(_some_texts, packages[:_PACKAGES]))
            known = self._said[root] = {
                pair for _, text in texts for pair in _IMPORTED.findall(text)
            }
        return known

    def _climbs(self, path: Path, top: Path, text: bytes) -> bool:
        """Return whether a file that no `__init__.py` is around says `from . import ...`."""
        if _RELATIVE.search(text) is None:
            return False
        inside = list(path.parents)
        return not any(map(self._is_package, inside[: inside.index(top) + 1]))

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


def _has(top: Path, imported: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether some of the names that are imported are of files or folders in `top`."""
    name = top.name.encode()
    for word in {part.decode("utf-8", "replace") for first, part in imported if first == name}:
        inner = top / word
        if inner.is_dir() or inner.with_suffix(".py").is_file():
            return True
    return False


def _some_texts(folder: Path, patterns: Sequence[str] = _NEAREST) -> Iterator[tuple[Path, bytes]]:
    """Yield the paths and bytes of a few files below a folder, those nearest first."""
    count = 0
    for pattern in patterns:
        for path in sorted(folder.glob(pattern)):
            if count >= _SAMPLE:
                return
            count += 1
            try:
                # A named pipe would wait for a writer.
                yield path, read_data(path)[0]
            except UnreadableFileError:
                continue
