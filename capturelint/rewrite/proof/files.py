"""The files of functions that are rewritten, and what runs with all their new code."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from capturelint.lint.cache.content import digest
from capturelint.lint.files import UnreadableFileError, decode, read_data
from capturelint.rewrite.buffers import Buffer, making, with_buffers
from capturelint.rewrite.origins import Origins, origins_after, origins_of
from capturelint.rewrite.proof.function import Rewriting
from capturelint.rewrite.proof.held import family
from capturelint.rewrite.proof.kept import KeptError, kept
from capturelint.rewrite.proof.swapping import swapped
from capturelint.verdict import Culprit, Kept, Place


@dataclass(slots=True)
class File:
    """A file while its functions are rewritten. `before`: its text without `excluded`, if any is.

    `origins`: where the lines of `text` stood in the `original`. `excluded`: lines of modules that run eagerly; `notes`: on these.
    """

    held: str
    text: str
    original: str
    origins: Origins
    before: str = ""
    done: dict[str, tuple[Rewriting, list[Culprit]]] = field(default_factory=dict)
    excluded: tuple[Place, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def finished(self) -> str:
        """The text with the buffers that its functions read."""
        return with_buffers(self.text, self._buffers)

    @property
    def finished_origins(self) -> Origins:
        """Where the lines of the text with its buffers stood in the original."""
        return origins_after(self.origins, self.text, [making(self.text, self._buffers)])

    @property
    def _buffers(self) -> list[Buffer]:
        return [one for done, _ in self.done.values() for one in done.buffers]

    @property
    def rewritten(self) -> list[Rewriting]:
        """The functions that were rewritten."""
        return [one for one, _ in self.done.values()]

    def drop(self, why: str) -> Iterator[Kept]:
        """Leave the file as it is, since its functions were proven together. Yield the lines that stay."""
        for _, group in self.done.values():
            yield from kept(group, why)
        self.done.clear()
        self.text, self.origins = self.original, origins_of(self.original)

    def leave(self, left: Sequence[tuple[Culprit, str]]) -> Iterator[Kept]:
        """Count some lines as those that stay, each with why, though the file is written. Yield them."""
        stays = [one for one, _ in left]
        for name, (rewriting, group) in self.done.items():
            self.done[name] = rewriting, [one for one in group if one not in stays]
        for one, why in left:
            yield from kept([one], why)


def file_at(path: str) -> File | None:
    """Return a file as it is on the disk, None if it cannot be read."""
    try:
        data, _ = read_data(Path(path))
        text = decode(data, Path(path))
    except UnreadableFileError:
        return None
    return File(digest(data), text, text, origins_of(text))


def check_names(rewriting: Rewriting, files: Iterable[File]) -> None:
    """Raise `KeptError` if another file gives modules of a class a buffer of the same name."""
    own = rewriting.classes(rewriting.buffers)
    for done in (done for file in files for done in file.rewritten):
        others = done.classes(done.buffers) if done.path != rewriting.path else {}
        for name in own.keys() & others.keys():
            if family(own[name]) & family(others[name]):
                other = others[name].__name__
                raise KeptError(f"`{other}` in another file gets a buffer `{name}` too")


@contextmanager
def rewritten(files: Iterable[File]) -> Iterator[None]:
    """Run inside with all that was written."""
    with ExitStack() as stack:
        for file in files:
            for one in file.rewritten:
                one.text = file.before or file.text
                stack.enter_context(one.swapped())
        yield


@contextmanager
def finished(files: Iterable[File]) -> Iterator[None]:
    """Run inside with all that was written, in modules that are made anew, with their buffers."""
    with ExitStack() as stack:
        for file in files:
            for one in file.rewritten:
                for functions, code in one.finished(file.finished):
                    stack.enter_context(swapped(functions, code, one.names))
        yield
