"""What a file held when it was read: a digest of its bytes, and a stamp that spares reading it again."""

from __future__ import annotations

import hashlib
import os
import time

Stamp = tuple[int, int, int, int, int]

# A file that changes twice within the resolution of its file system's clock (FAT: 2 s) keeps its
# stamp, so one that changed this shortly before it was read has none.
_FRESH = 2_000_000_000


def digest(data: bytes) -> str:
    """Return a digest of bytes."""
    return hashlib.blake2b(data, digest_size=20).hexdigest()


def stamp_of(status: os.stat_result) -> Stamp | None:
    """Return the stamp of a file that is read now; None if it changed too lately to rely on one.

    The time of the last change of status is part of it, which only the system sets: an archive can
    bring any time of modification.
    """
    changed = max(status.st_mtime_ns, status.st_ctime_ns)
    if changed > time.time_ns() - _FRESH:
        return None
    return _parts(status)


def has_stamp(path: str, stamp: Stamp | None) -> bool:
    """Return whether a file still has the stamp that it had."""
    if stamp is None:
        return False
    try:
        return _parts(os.stat(path)) == stamp  # noqa: PTH116 - thousands of files: a Path costs more
    except (OSError, ValueError):
        return False


def _parts(status: os.stat_result) -> Stamp:
    return (
        status.st_mtime_ns,
        status.st_ctime_ns,
        status.st_size,
        status.st_ino,
        status.st_dev,
    )
