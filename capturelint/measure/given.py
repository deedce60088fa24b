"""The text of a file that the user gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_PACKED = (
    b"\x1f\x8b",
    b"PK\x03\x04",
    b"\x28\xb5\x2f\xfd",
    b"BZh",
    b"\xfd7zXZ",
)  # how such files begin


def text_in(path: Path, wrong: Callable[[Path, str], Exception]) -> str:
    """Return the text of a file in UTF-8, also behind a byte order mark.

    Raises what `wrong` makes of the path and the problem, if the file cannot be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise wrong(path, f"cannot be read: {error.strerror}") from error
    if data.startswith(_PACKED):
        raise wrong(path, "is compressed; unpack it first")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise wrong(path, "is not text in UTF-8; save it as such") from error
