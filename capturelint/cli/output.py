"""Where a report goes: the terminal, a pipe or a file that is written whole or not at all."""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TextIO

from capturelint.errors import CapturelintError


class OutputError(CapturelintError):
    """A report cannot be written where the user wants it."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"cannot write {path}: {problem}")


def check_writable(path: Path | None) -> None:
    """Refuse a place that cannot be written, before work is spent on it. Raises `OutputError`."""
    if path is None:
        return
    if path.is_dir():
        raise OutputError(path, "it is a folder; name a file in it")
    if not path.parent.is_dir():
        raise OutputError(path, f"there is no folder {path.parent}; create it first")


def write(text: str, path: Path | None) -> None:
    """Print `text` and a line end, or put them into a file. Raises `OutputError`.

    A pipe whose reader has gone is no error: the exit code still tells what was found.
    """
    if path is None:
        _print(text)
        return
    try:
        _replace(path, f"{text}\n".encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise OutputError(path, str(error.strerror)) from error


def complain(text: str) -> None:
    """Print one line for the user where it does not mix with the report.

    Nobody is told where there is no such place: it is closed, or its reader has gone.
    """
    # Without a stream `print` would write to standard output.
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(f"capturelint: {text}", file=sys.stderr, flush=True)


def until_interrupted(
    work: Callable[[argparse.Namespace], int], options: argparse.Namespace
) -> int:
    """Return the exit code of `work`, or 130 after one line when the user stops it."""
    try:
        return work(options)
    except KeyboardInterrupt:
        complain("interrupted")
        return 130


def use_color(stream: TextIO | None, *, no_color: bool) -> bool:
    """Return whether to colour what is printed on `stream`."""
    if no_color or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    # A process may be started without the stream.
    return stream is not None and stream.isatty()


def _print(text: str) -> None:
    if sys.stdout is None:
        return
    try:
        print(text, flush=True)
    except BrokenPipeError:
        # What is left in the buffer would raise again when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(Path("standard output"), f"{error.strerror}") from error


def _replace(path: Path, data: bytes) -> None:
    import tempfile  # only here: few runs write a file, and it loads much

    # Through a link, so that the link stays; a device or pipe cannot be replaced.
    target = Path(os.path.realpath(path))
    mode = _mode(target)
    if not stat.S_ISREG(mode):
        target.write_bytes(data)
        return
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(stat.S_IMODE(mode))
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _mode(path: Path) -> int:
    """Return type and permissions of a file, or those a new one would get."""
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return stat.S_IFREG | (0o666 & ~mask)
