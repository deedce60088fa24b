"""Digests and stamps of files."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from capturelint.lint.cache import content
from capturelint.lint.cache.content import has_stamp, stamp_of


def _status(**times: int) -> os.stat_result:
    """Return the status of a file whose times are so many seconds past."""
    now = time.time_ns()
    past = {name: now - seconds * 10**9 for name, seconds in times.items()}
    base = list(Path(__file__).stat())
    return os.stat_result(
        base, {"st_atime_ns": now, "st_mtime_ns": past["mtime"], "st_ctime_ns": past["ctime"]}
    )


@pytest.mark.parametrize(
    ("mtime", "ctime", "has_one"),
    [(60, 60, True), (60, 1, False), (1, 60, False), (-60, 60, False)],
)
def test_a_file_that_changed_just_now_has_no_stamp(mtime: int, ctime: int, has_one: bool) -> None:
    assert (stamp_of(_status(mtime=mtime, ctime=ctime)) is not None) is has_one


def test_a_stamp_tells_every_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "_FRESH", 0)
    path = tmp_path / "a.py"
    path.write_text("x = 1\n")
    status = path.stat()
    time.sleep(0.02)
    stamp = stamp_of(status)
    assert has_stamp(str(path), stamp)

    path.write_text("x = 2\n")
    # What an archive can bring back, size and time of modification, is not enough.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert not has_stamp(str(path), stamp)


def test_no_stamp_and_no_file_are_never_alike(tmp_path: Path) -> None:
    assert not has_stamp(str(tmp_path), None)
    assert not has_stamp(str(tmp_path / "none"), (0, 0, 0, 0, 0))
    assert not has_stamp("\0", (0, 0, 0, 0, 0))
