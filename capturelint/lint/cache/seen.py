"""What a run has read, so that the next can tell whether it would find the same."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.lint.cache.content import Stamp, digest, stamp_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from capturelint.lint.cache.parts import Parts
    from capturelint.lint.evaluated import Evaluated
    from capturelint.lint.said import Said


@dataclass(slots=True)
class Held:
    """What a file held: a digest of its bytes, or why there were none after a `!`.

    `said` is a digest of its facts without their lines, "" for a file that was only read.
    """

    digest: str
    stamp: Stamp | None
    said: str = ""
    module: str = ""
    is_package: bool = False


@dataclass(slots=True)
class Seen:
    """Files that were read, files that were looked for in vain, folders that were listed.

    Of the files in `texts` more than the facts was used, of those in `parts` only single functions,
    and their comments with one of some `words`. `packages` are the folders of packages whose files were listed, with
    a digest of the list. `said` is what was found before anything was accepted, `evaluated` what is
    known of functions; both only where a changed function can be checked alone. `is_torn`: a file was
    read twice and changed in between, so that not all rests on what is noted of it.
    """

    files: dict[str, Held] = field(default_factory=dict)
    texts: set[str] = field(default_factory=set)
    absent: set[str] = field(default_factory=set)
    packages: dict[str, str] = field(default_factory=dict)
    parts: dict[str, Parts] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    said: Sequence[Said] = ()
    evaluated: Evaluated | None = None
    is_torn: bool = False

    def note(self, path: str, held: Held) -> None:
        """Note that the facts of a file were used. The first reading counts."""
        self.files.setdefault(path, held)

    def note_again(self, path: str, data: bytes | None) -> None:
        """Note that a file was read again, and held `data`; None if it could not be read."""
        known = self.files.get(path)
        if known is not None:
            was_read = not known.digest.startswith("!")
            is_same = not was_read if data is None else known.digest == digest(data)
            self.is_torn = self.is_torn or not is_same

    def note_text(self, path: str) -> None:
        """Note that the text of a file that was noted was used."""
        self.texts.add(path)

    def read(self, path: Path) -> bytes | None:
        """Return the bytes of a file and note that all of it counts; None if it cannot be read."""
        held, data = _held(path)
        self.note(str(path), held)
        return data

    def is_file(self, path: str) -> bool:
        """Return whether there is a file, and note it if there is none."""
        if os.path.isfile(path):  # noqa: PTH113 - for speed
            return True
        self.absent.add(path)
        return False


def held_by(path: str) -> Held:
    """Return what a file holds now."""
    return _held(Path(path))[0]


def _held(path: Path) -> tuple[Held, bytes | None]:
    # Only here: a run of which no file was touched reads none.
    from capturelint.lint.files import UnreadableFileError, read_data

    try:
        data, status = read_data(path)
    except UnreadableFileError as error:
        return Held(f"!{error.problem.message}", None), None
    return Held(digest(data), stamp_of(status)), data
