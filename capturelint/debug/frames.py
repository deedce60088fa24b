"""Which frames of the stack are the user's: not torch's, not the standard library's, not ours."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FrameType, TracebackType

from capturelint.verdict import Place

_PACKAGE = Path(__file__).resolve().parents[1]
# The shipped examples are user code, wherever they are installed.
_OURS = tuple(f"{path}{os.sep}" for path in _PACKAGE.iterdir() if path.name != "fixtures")
# What called it is no part of the case: a script that judges a model in memory.
_ENGINE = str(_PACKAGE / "debug" / "engine.py")
_NOT_THE_USERS = ("torch", "numpy", "functorch", "triton", "torchgen")


def _folders(packages: tuple[str, ...]) -> tuple[str, ...]:
    specs = (find_spec(package) for package in packages)
    return tuple(
        f"{folder}{os.sep}"
        for spec in specs
        if spec is not None
        for folder in spec.submodule_search_locations or ()
    )


_LIBRARIES = _folders(_NOT_THE_USERS)
_MADE_BY_INDUCTOR = f"{os.sep}torchinductor_"  # the folder of what torch.compile writes
_STANDARD = tuple(f"{sysconfig.get_path(kind)}{os.sep}" for kind in ("stdlib", "platstdlib"))


@cache
def is_users(code: CodeType) -> bool:
    """Return whether a code object comes from a file that the user or a model library wrote."""
    return is_users_file(code.co_filename)


def is_users_file(path: str) -> bool:
    """Return whether the user or a model library wrote the file at `path`, as code names it."""
    if path.startswith(("<", *_OURS, *_LIBRARIES)) or _MADE_BY_INDUCTOR in path:
        return False
    return not path.startswith(_STANDARD) or "site-packages" in path or "dist-packages" in path


def is_of_torch(code: CodeType) -> bool:
    """Return whether a code object is of torch, or of another library that it works with."""
    return code.co_filename.startswith(_LIBRARIES)


def users_frames(start: FrameType | None = None, *, limit: int = 6) -> tuple[Place, ...]:
    """Return the innermost frames of the user's code, innermost first, from `start` or the caller.

    They end where the engine began. Their `source` is left empty: reading files on each call would cost too much.
    """
    frame: FrameType | None = start or sys._getframe(1)  # noqa: SLF001 - no other way to walk it
    places: list[Place] = []
    while frame is not None and len(places) < limit:
        if frame.f_code.co_filename == _ENGINE:
            break
        if is_users(frame.f_code):
            places.append(place_at(frame.f_code, frame.f_lineno))
        frame = frame.f_back
    return tuple(places)


def span_at(place: Place) -> tuple[int, int, int, int] | None:
    """Return the expression that runs, as an `Act` has it, if the innermost of the user's frames is at `place`."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - no other way to walk it
    while frame is not None and not is_users(frame.f_code):
        frame = frame.f_back
    if frame is None or (frame.f_code.co_filename, frame.f_lineno) != (place.path, place.line):
        return None
    spans = _spans(frame.f_code)
    return spans[frame.f_lasti // 2] if 0 <= frame.f_lasti // 2 < len(spans) else None


@cache
def _spans(code: CodeType) -> tuple[tuple[int, int, int, int] | None, ...]:
    """Return the stretch of each instruction; nothing where Python does not tell them."""
    positions = getattr(code, "co_positions", lambda: iter(()))()
    return tuple(
        None
        if None in (line, end_line, column, end_column)
        else (line, column, end_line, end_column)
        for line, end_line, column, end_column in positions
    )


def is_called_from(folder: str) -> bool:
    """Return whether the innermost frame outside torch, but for the caller's, is of a file in `folder`."""
    frame = sys._getframe(2)  # noqa: SLF001 - no other way to walk it
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_LIBRARIES):
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(f"{folder}{os.sep}")


def raised_at(error: BaseException) -> tuple[Place, ...]:
    """Return the user's frames that `error` passed through, innermost first."""
    return tuple(reversed(tuple(_traceback(error.__traceback__))))


def sourced(place: Place) -> Place:
    """Return `place` with the text of its line, where the file can be read."""
    if place.source:
        return place
    return replace(place, source=linecache.getline(place.path, place.line).strip())


def place_at(code: CodeType, line: int) -> Place:
    """Return the place of a line in a code object. Its `source` is left empty."""
    name: str = getattr(code, "co_qualname", code.co_name)  # Python 3.10 has no qualified name here
    return Place(code.co_filename, line, name)


def _traceback(traceback: TracebackType | None) -> Iterator[Place]:
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if is_users(code):
            yield place_at(code, traceback.tb_lineno)
        traceback = traceback.tb_next
