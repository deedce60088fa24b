"""The text of a file that the user gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path


def text_in(path: Path, wrong: Callable[[Path, str], Exception]) -> str:
    """Return the text of a file in UTF-8, also behind a byte order mark.

    Raises what `wrong` makes of the path and the problem, if the file cannot be read.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise wrong(path, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise wrong(path, "is not text in UTF-8") from error
