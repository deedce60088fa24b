"""Write rewritten files, each whole or not at all, and only such as the user can get back."""

from __future__ import annotations

import glob
import io
import os
import signal
import stat
import tempfile
import tokenize
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from capturelint.lint.cache.content import digest
from capturelint.lint.files import UnreadableFileError, decode, read_data
from capturelint.lint.repository import GitError, repository_of

# Where packages are installed: their files are not the project's.
_INSTALLED = frozenset({"site-packages", "dist-packages"})


_WRITABLE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


class UnwritableError(Exception):
    """A file must not be changed, or cannot be. The text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Original:
    """A file as it was checked."""

    path: Path
    data: bytes
    text: str
    encoding: str

    @classmethod
    def of(cls, path: Path, held: str) -> Original:
        """Return a file whose content had the digest `held` when it was checked.

        Raises `UnwritableError` if it has changed since, or cannot be written as it is encoded.
        """
        real = Path(os.path.realpath(path))
        try:
            data, _ = read_data(real)
            text = decode(data, real)
        except UnreadableFileError as error:
            raise UnwritableError(error.problem.message) from error
        if digest(data) != held:
            raise UnwritableError("has changed since it was read; run again")
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        original = cls(real, data, text, encoding)
        if original.encoded(text) != data:
            raise UnwritableError(f"cannot be written back in {encoding}; convert it to UTF-8")
        return original

    def encoded(self, text: str) -> bytes:
        """Return a new text of the file as bytes. Raises `UnwritableError` if it has none."""
        try:
            return text.encode(self.encoding)
        except UnicodeEncodeError as error:
            raise UnwritableError(f"cannot hold the new text in {self.encoding}") from error

    def replace(self, text: str) -> None:
        """Put a new text into the file, which holds the old or the new one at any time.

        Raises `UnwritableError` if it has changed since it was read, or cannot be written.
        """
        new = self.encoded(text)
        with _undisturbed():
            try:
                self._replace(new)
            except OSError as error:
                raise UnwritableError(f"cannot be written: {error.strerror}") from error

    def _replace(self, new: bytes) -> None:
        mode = self.path.stat().st_mode
        if not mode & _WRITABLE or not os.access(self.path, os.W_OK):
            raise UnwritableError("is read-only; make it writable first, as by `chmod u+w`")
        prefix = f".{self.path.name}.capturelint-"
        for left in self.path.parent.glob(f"{glob.escape(prefix)}*"):
            # Of a run that was killed.
            left.unlink(missing_ok=True)
        handle, name = tempfile.mkstemp(dir=self.path.parent, prefix=prefix)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(new)
                file.flush()
                os.fsync(file.fileno())
            Path(name).chmod(stat.S_IMODE(mode))
            self._check_unchanged()
            Path(name).replace(self.path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def _check_unchanged(self) -> None:
        if self.path.read_bytes() != self.data:
            raise UnwritableError("has changed since it was read; run again")


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let signals that end the process wait until a file is written, so that no draft is left."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    endings = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, endings)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_own(path: Path, root: Path) -> None:
    """Raise `UnwritableError` unless a file belongs to the project under `root`, links followed."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        raise UnwritableError(f"is not in the project {root}; run capturelint there")
    if not _INSTALLED.isdisjoint(real.parts):
        raise UnwritableError("is an installed package; change it where it is developed")


def check_clean(path: Path) -> None:
    """Raise `UnwritableError` unless git holds a file as it is, so that its text can be had back."""
    real = Path(os.path.realpath(path))
    advice = "`--allow-dirty` changes it all the same"
    try:
        repository = repository_of(real)
        name = os.fspath(real.relative_to(repository.top))
        arguments = ("--ignored", "--untracked-files=all", "-z", "--", f":(literal,top){name}")
        is_dirty = bool(repository.git("status", "--porcelain", *arguments))
        held = b"" if is_dirty else repository.git("cat-file", "--filters", f"HEAD:{name}")
    except (GitError, ValueError) as error:
        raise UnwritableError(f"is not known to git; {advice}") from error
    try:
        is_held = _plain(held) == _plain(real.read_bytes())
    except OSError as error:
        raise UnwritableError(f"cannot be read: {error.strerror}") from error
    # Files that git was told to take for unchanged it does not look at.
    if is_dirty or not is_held:
        raise UnwritableError(f"has changes that are not committed; commit them, or {advice}")


def _plain(data: bytes) -> bytes:
    """Return a text with the line ends that git may convert made the same."""
    return data.replace(b"\r\n", b"\n")
