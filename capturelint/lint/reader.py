"""Facts and texts of the files of one run: read once, found again by module name."""

# ruff: noqa: PTH118

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from capturelint.lint.cache.content import digest
from capturelint.lint.cache.facts import Named
from capturelint.lint.cache.parts import Parts
from capturelint.lint.cache.seen import Held, Seen
from capturelint.lint.cache.store import FactsStore, Fresh
from capturelint.lint.files import Problem, UnreadableFileError, decode, read_data
from capturelint.lint.indexing import indexed
from capturelint.lint.modules import Modules
from capturelint.lint.notebook import is_notebook
from capturelint.lint.symbols import Function
from capturelint.names import FileFacts
from capturelint.source import FunctionNode, SourceFile

_TEXTS = 48
# A line of a tree takes about a kilobyte.
_LINES_OF_TREES = 3000


class Reader:
    """Reads files, and remembers the few texts and trees that are needed again soon.

    `root` is the folder of the project. `store` keeps facts from run to run; None for no cache. `seen` is what was read. `texts` are to be
    taken for those of files with these paths.
    """

    def __init__(
        self,
        root: Path,
        stdin: tuple[Path, str] | None = None,
        *,
        store: FactsStore | None = None,
        seen: Seen | None = None,
        texts: Mapping[str, str] | None = None,
    ) -> None:
        self.seen = Seen() if seen is None else seen
        self._given = dict(texts or {})
        if stdin is not None:
            self._given[str(stdin[0])] = stdin[1]
        self._store = store
        self.modules = Modules(root)
        self._sources: OrderedDict[str, SourceFile] = OrderedDict()
        self._trees: OrderedDict[int, tuple[FunctionNode | None, int]] = OrderedDict()
        self._lines_of_trees = 0

    def index(
        self, paths: Sequence[Path], *, jobs: int, progress: Callable[[str], None] | None
    ) -> tuple[list[FileFacts], list[Problem]]:
        """Return the facts of all files that can be read, and what is wrong with the others."""
        named = [(path, *self.modules.name_of(path)) for path in paths]
        found: list[FileFacts] = []
        problems: list[Problem] = []
        for number, result in enumerate(self._indexed(named, jobs), start=1):
            if isinstance(result, Problem):
                problems.append(result)
            else:
                found.append(result)
            if progress is not None and number % 50 == 0:
                progress(f"reading {number} of {len(named)} files")
        return found, problems

    def _indexed(self, files: Sequence[Named], jobs: int) -> Iterator[FileFacts | Problem]:
        """Yield what each file says, in their order, and keep what is new."""
        known = [self._known(named) for named in files]
        missing = [named for named, one in zip(files, known, strict=True) if one is None]
        new = indexed(missing, self._given, jobs=jobs, encoded=self._store is not None)
        for named, one in zip(files, known, strict=True):
            if one is not None:
                yield one
                continue
            found = next(new)
            self._note(
                named, Held(found.digest, found.stamp, digest(found.said.encode())), found.result
            )
            if self._store is not None and not self._is_given(str(named[0])):
                self._store.keep(Fresh(named, found.said, found.lines, found.digest, found.stamp))
            yield found.result
        if self._store is not None:
            self._store.finish()

    def _known(self, named: Named) -> FileFacts | Problem | None:
        """Return what the cache knows of a file as it is now."""
        if self._store is None or self._is_given(str(named[0])):
            return None
        kept = self._store.find(named)
        if kept is None:
            return None
        self._note(named, Held(kept.digest, kept.stamp, kept.said), kept.result)
        return kept.result

    def _note(self, named: Named, held: Held, result: FileFacts | Problem) -> None:
        path, held.module, held.is_package = str(named[0]), named[1], named[2]
        self.seen.note(path, held)
        if isinstance(result, Problem):
            # Its place is reported.
            self.seen.note_text(path)

    def load(self, home: str, module: str) -> FileFacts | None:
        """Return the facts of a module whose name starts from a folder, or None."""
        # Text, not Path: most modules that are asked for are names in one that is there.
        base = os.path.join(home, *module.split("."))
        # As Python does, a package before a file of its name.
        for path, is_package in ((os.path.join(base, "__init__.py"), True), (f"{base}.py", False)):
            if self.seen.is_file(path):
                named = (Path(path), module, is_package)
                (result,) = self._indexed([named], 1)
                return None if isinstance(result, Problem) else result
        return None

    def source(self, path: str) -> SourceFile:
        """Return the lines of a file, any of which may tell."""
        self.seen.note_text(path)
        return self._source(path)

    def source_of(self, function: Function) -> SourceFile:
        """Return the lines of a function's file, for those of the function alone."""
        path = function.file.path
        source = self._source(path)
        if source.feeds or is_notebook(path):
            # Columns and lines rest on more than the function.
            self.seen.note_text(path)
        elif self._store is not None:
            self._parts_of(path).note(function.place, function.facts, source)
        return source

    def whole(self, path: str) -> SourceFile:
        """Return a file, any line of which may count from now on."""
        self.seen.note_text(path)
        return self._source(path)

    def text(self, path: str, words: Sequence[str]) -> str:
        """Return the text of a file, for what some words in it do; they are in lower case."""
        text = self._source(path).text
        if is_notebook(path):
            self.seen.note_text(path)
        else:
            self.seen.words = tuple(words)
            self._parts_of(path).note_comments(text, words)
        return text

    def hold(self, path: str, text: str) -> None:
        """Take this for the text of a file, which then need not be read."""
        self._sources[path] = SourceFile.of(text)

    def _parts_of(self, path: str) -> Parts:
        known = self.seen.parts.get(path)
        if known is None:
            known = self.seen.parts[path] = Parts()
        return known

    def _source(self, path: str) -> SourceFile:
        source = self._sources.get(path)
        if source is None:
            given = self._given.get(path)
            source = SourceFile.of(self._text(path) if given is None else given)
            self._sources[path] = source
            if len(self._sources) > _TEXTS:
                self._sources.popitem(last=False)
        else:
            self._sources.move_to_end(path)
        return source

    def _text(self, path: str) -> str:
        data: bytes | None = None
        place = Path(path)
        try:
            data, _ = read_data(place)
        finally:
            if self._store is not None:
                self.seen.note_again(path, data)
        return decode(data, place)

    def body_of(self, function: Function) -> FunctionNode | None:
        """Return the tree of a function, parsed alone; None if its file changed meanwhile."""
        if function.index in self._trees:
            self._trees.move_to_end(function.index)
            return self._trees[function.index][0]
        try:
            node = self.source_of(function).parsed(function.facts)
        except UnreadableFileError:
            node = None
        size = function.facts.end_line - function.facts.first_line + 1
        self._trees[function.index] = node, size
        self._lines_of_trees += size
        while self._lines_of_trees > _LINES_OF_TREES and len(self._trees) > 1:
            self._lines_of_trees -= self._trees.popitem(last=False)[1][1]
        return node

    def head_of(self, function: Function) -> FunctionNode | None:
        """Return the tree of a function of which the body does not matter, and may be missing."""
        known = self._trees.get(function.index)
        if known is not None:
            return known[0]
        try:
            return self.source_of(function).head(function.facts)
        except UnreadableFileError:
            return None

    def forget_trees(self) -> None:
        """Drop the trees that were kept, once most of them will not be asked for again."""
        self._trees.clear()
        self._lines_of_trees = 0

    def _is_given(self, path: str) -> bool:
        return path in self._given
