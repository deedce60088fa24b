"""Facts and texts of the files of one run: read once, found again by module name."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from capturelint.lint.files import Problem, UnreadableFileError, parse, read_text
from capturelint.lint.index import facts_of
from capturelint.lint.symbols import Function
from capturelint.names import FileFacts
from capturelint.source import FunctionNode, SourceFile

_TEXTS = 48
_CLIMB = 12
_SAMPLE = 40
_TREES = 1500
_WORTH_A_POOL = 400


class Reader:
    """Reads files, and remembers the few texts and trees that are needed again soon."""

    def __init__(self, stdin: tuple[Path, str] | None = None) -> None:
        self._stdin = stdin
        self._sources: OrderedDict[str, SourceFile] = OrderedDict()
        self._trees: OrderedDict[int, FunctionNode | None] = OrderedDict()
        self._folders: dict[str, Path] = {}
        self._packages: dict[Path, bool] = {}
        self._projects: dict[Path, bool] = {}
        self._tops: dict[Path, Path] = {}

    def index(
        self, paths: Sequence[Path], *, jobs: int, progress: Callable[[str], None] | None
    ) -> tuple[list[FileFacts], list[Problem]]:
        """Return the facts of all files that can be read, and what is wrong with the others."""
        named = [(path, *self.module_of(path)) for path in paths]
        found: list[FileFacts] = []
        problems: list[Problem] = []
        for number, result in enumerate(_indexed(named, self._stdin, jobs), start=1):
            if isinstance(result, Problem):
                problems.append(result)
            else:
                found.append(result)
            if progress is not None and number % 50 == 0:
                progress(f"reading {number} of {len(named)} files")
        return found, problems

    def load(self, module: str) -> FileFacts | None:
        """Return the facts of a module beside those that were read, or None."""
        top, _, rest = module.partition(".")
        folder = self._folders.get(top)
        if folder is None:
            return None
        base = folder.joinpath(*rest.split(".")) if rest else folder
        for path in (base.with_suffix(".py"), base / "__init__.py"):
            if path.is_file():
                result = index_one((path, module, path.name == "__init__.py"), None)
                return None if isinstance(result, Problem) else result
        return None

    def source(self, path: str) -> SourceFile:
        """Return the lines of a file."""
        source = self._sources.get(path)
        if source is None:
            is_stdin = self._stdin is not None and str(self._stdin[0]) == path
            text = self._stdin[1] if is_stdin and self._stdin else read_text(Path(path))
            source = SourceFile.of(text)
            self._sources[path] = source
            if len(self._sources) > _TEXTS:
                self._sources.popitem(last=False)
        else:
            self._sources.move_to_end(path)
        return source

    def body_of(self, function: Function) -> FunctionNode | None:
        """Return the tree of a function, parsed alone; None if its file changed meanwhile."""
        if function.index in self._trees:
            self._trees.move_to_end(function.index)
            return self._trees[function.index]
        try:
            node = self.source(function.file.path).parsed(function.facts)
        except UnreadableFileError:
            node = None
        self._trees[function.index] = node
        if len(self._trees) > _TREES:
            self._trees.popitem(last=False)
        return node

    def module_of(self, path: Path) -> tuple[str, bool]:
        """Return the dotted name of a file's module, and whether it is a package's `__init__`."""
        absolute = path.absolute()
        top = None
        # A package may hold folders without an `__init__.py`; a project's own folder ends the climb.
        for parent in absolute.parents[:_CLIMB]:
            if self._is_package(parent):
                top = parent
            elif self._is_project(parent):
                break
        is_package = path.name == "__init__.py"
        if top is None:
            return path.stem, is_package
        top = self._qualified(top)
        self._folders.setdefault(top.name, top)
        parts = absolute.relative_to(top.parent).with_suffix("").parts
        return ".".join(parts[:-1] if is_package else parts), is_package

    def package_of(self, path: Path) -> Path | None:
        """Return the folder of the top package that a file belongs to, None for a loose file."""
        return self._folders.get(self.module_of(path)[0].partition(".")[0])

    def _qualified(self, top: Path) -> Path:
        """Return the folder that names start from: above `top` where its own imports say so.

        `megatron/core/` has an `__init__.py` and `megatron/` none, but its files say
        `from megatron.core import ...`.
        """
        known = self._tops.get(top)
        if known is None:
            parent = top.parent
            wanted = re.compile(
                rf"^\s*(?:from|import)\s+{parent.name}\.{top.name}\b".encode(), re.M
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


def index_one(named: tuple[Path, str, bool], stdin: tuple[Path, str] | None) -> FileFacts | Problem:
    """Return the facts of one file, or what is wrong with it."""
    path, module, is_package = named
    try:
        text = stdin[1] if stdin is not None and stdin[0] == path else read_text(path)
        tree = parse(text, path)
        return facts_of(tree, text, path=str(path), module=module, is_package=is_package)
    except UnreadableFileError as error:
        return error.problem
    except RecursionError:
        return Problem(path, 1, 0, "is nested too deeply to be checked")


def _indexed(
    named: Sequence[tuple[Path, str, bool]], stdin: tuple[Path, str] | None, jobs: int
) -> list[FileFacts | Problem]:
    if jobs < 2 or len(named) < _WORTH_A_POOL:
        return [index_one(one, stdin) for one in named]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(_index_file, named, chunksize=32))


def _index_file(named: tuple[Path, str, bool]) -> FileFacts | Problem:
    return index_one(named, None)
