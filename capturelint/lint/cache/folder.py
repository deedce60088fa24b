"""A cache folder: sealed JSON files, written whole or not at all.

Nothing that goes wrong here changes an answer: a file that cannot be read, was cut off or was not
sealed by this user counts as absent, and one that cannot be written is left out.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from capturelint.lint.cache.secret import user_secret

_OWN_FILES = {
    ".gitignore": b"*\n",
    "CACHEDIR.TAG": (
        b"Signature: 8a477f597d28d172789f06886806bc55\n"  # as https://bford.info/cachedir has it
        b"# Made by capturelint; nothing is lost when it is deleted.\n"
    ),
}
_HEAD = b"capturelint cache "
_SEAL_END = len(_HEAD) + 64 + 1
_MOST_BYTES = 64 * 2**20
_DAY = 24 * 3600
_KEPT = 30 * _DAY
_DRAFT = ".draft-"


class CacheFolder:
    """One cache folder. Made by `opened`."""

    def __init__(self, path: Path, secret: bytes) -> None:
        self._path = path
        self._secret = secret

    @classmethod
    def opened(cls, path: Path, *, is_named: bool) -> CacheFolder | None:
        """Return the folder at `path`, which need not exist; None where no cache can be kept.

        `is_named`: the user asked for this folder, so that it may be reached by a link. A link that
        came with a repository may lead anywhere.
        """
        secret = user_secret()
        if secret is None or (path.is_symlink() and not is_named):
            return None
        return cls(Path(os.path.realpath(path)), secret)

    def load(self, name: str) -> object:
        """Return what was saved under `name`, a relative path; None if nothing sound was."""
        path = self._path / name
        try:
            data = _contents(path)
            seal = self._seal(name)
            seal.update(memoryview(data)[_SEAL_END:])
            if not hmac.compare_digest(data[:_SEAL_END], _head(seal)):
                return None
            _mark_used(path)
            text = data[_SEAL_END:].decode("ascii")
            del data
            found: object = json.loads(text)
        except (OSError, ValueError, RecursionError, MemoryError):
            return None
        return found

    def save(self, name: str, pieces: Iterable[str]) -> None:
        """Save JSON text, all ASCII, under `name`, a relative path. Does nothing where it cannot.

        The text comes in pieces, of which one at a time is held.
        """
        path = self._path / name
        draft = path.with_name(f"{_DRAFT}{os.getpid()}-{os.urandom(6).hex()}")
        try:
            self._prepare(path.parent)
            self._write_sealed(draft, name, pieces)
            draft.replace(path)
        except OSError:
            with suppress(OSError):
                draft.unlink()

    def prune(self, folder: str, most: int) -> None:
        """Remove what was not used for a month, or is not among the `most` used last."""
        now = time.time()
        found = sorted(self._aged(folder), reverse=True)
        for place, (used, path) in enumerate(found):
            is_left = path.name.startswith(_DRAFT) and now - used > _DAY
            if is_left or place >= most or now - used > _KEPT:
                with suppress(OSError):
                    path.unlink()

    def _aged(self, folder: str) -> Iterator[tuple[float, Path]]:
        try:
            entries = list(os.scandir(self._path / folder))
        except OSError:
            return
        for entry in entries:
            with suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISREG(status.st_mode):
                    yield status.st_mtime, Path(entry.path)

    def _write_sealed(self, draft: Path, name: str, pieces: Iterable[str]) -> None:
        """Write a file that is to be at `name`; its first line comes last, as it tells of the rest."""
        seal = self._seal(name)
        with _new(draft) as file:
            file.write(bytes(_SEAL_END))
            for piece in pieces:
                data = piece.encode("ascii")
                seal.update(data)
                file.write(data)
            file.seek(0)
            file.write(_head(seal))

    def _seal(self, name: str) -> hmac.HMAC:
        """Return the seal of an empty file at one place, which only this user can make."""
        place = os.fsencode(self._path / name)
        return hmac.new(self._secret, len(place).to_bytes(4, "big") + place, hashlib.sha256)

    def _prepare(self, folder: Path) -> None:
        if folder.is_symlink():
            raise NotADirectoryError(f"{folder} is a link")
        if folder.is_dir():
            return
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in _OWN_FILES.items():
            with suppress(FileExistsError):
                _write_new(self._path / name, data)


def _contents(path: Path) -> bytes:
    """Return the bytes of a regular file of sensible size; raises `OSError` for anything else."""
    flags = os.O_RDONLY | _UNFOLLOWED | getattr(os, "O_NONBLOCK", 0)
    if path.parent.is_symlink():
        raise NotADirectoryError(f"{path.parent} is a link")
    with os.fdopen(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MOST_BYTES:
            raise OSError(f"{path} is no cache file")
        return file.read()


def _mark_used(path: Path) -> None:
    # Where the cache cannot be written it can still be read.
    with suppress(OSError):
        if time.time() - path.stat().st_mtime > _DAY:
            os.utime(path)


def _head(seal: hmac.HMAC) -> bytes:
    """Return the first line of a file."""
    return b"%s%s\n" % (_HEAD, seal.hexdigest().encode())


def _write_new(path: Path, data: bytes) -> None:
    with _new(path) as file:
        file.write(data)


def _new(path: Path) -> BinaryIO:
    """Open a file that is not there yet."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _UNFOLLOWED
    return os.fdopen(os.open(path, flags, 0o666), "wb")


_UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
