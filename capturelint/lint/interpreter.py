"""What a check asks of the interpreter while it runs."""

from __future__ import annotations

import gc
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

Result = TypeVar("Result")


# As many bytes as make an object of 512, the largest that Python keeps in its own memory, which it
# takes from the system in arenas of a mebibyte.
_FILLER = 512 - sys.getsizeof(b"") - 7
_PER_ARENA = 2**20 // 512
_ARENAS = 16
# Calls of Python functions take no room on the C stack since 3.11.
_RECURSION = 30_000 if sys.version_info >= (3, 11) else 8_000


@contextmanager
def deep_recursion(most: int = _RECURSION) -> Iterator[None]:
    """Allow for chains of calls whose functions nest deeply: as many Python calls as `most`."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, most))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Say nothing of odd escapes and numbers in checked code, and do not take them for errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def with_arenas() -> Iterator[None]:
    """Keep room for syntax trees, which come and go by the thousand.

    Python gives memory back to the system a mebibyte at a time, as soon as nothing is in it, and maps
    it anew for the next tree, whose pages the system then clears: a tenth of the time of parsing. One
    small object in each piece keeps it; what else a run holds fills the rest in the end.
    """
    filling = [bytes(_FILLER) for _ in range(_ARENAS * _PER_ARENA)]
    held = filling[::_PER_ARENA]
    del filling
    try:
        yield
    finally:
        held.clear()


@contextmanager
def without_collection() -> Iterator[None]:
    """Keep the garbage collector from walking what holds few cycles and stays, a tenth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def with_room(work: Callable[[], Result]) -> Result:
    """Return what `work` gives, with a mebibyte for the frames of the functions that it calls.

    Since 3.11 Python keeps frames in chunks of 16 KiB, and maps one into memory at each call that
    begins it and out again when that call returns. A walk over trees does so all the time. The
    chunk of a frame as large as this function claims to have leaves as much room behind it, and
    takes no memory before it is used.
    """
    return work()


_FRAME_WORDS = 2**17
with_room.__code__ = with_room.__code__.replace(co_stacksize=_FRAME_WORDS)
