"""A cache folder: what is read back, what counts as absent, what is never touched."""

from __future__ import annotations

import errno
import io
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from capturelint.lint.cache import folder as module
from capturelint.lint.cache.folder import CacheFolder

posix = pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
_NAME = "runs/one.json"


def _opened(path: Path, *, is_named: bool = False) -> CacheFolder:
    found = CacheFolder.opened(path, is_named=is_named)
    assert found is not None
    return found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Return a cache folder that holds one file."""
    _opened(tmp_path / "cache").save(_NAME, ['{"a": [1, "\\ud800"]}'])
    return tmp_path / "cache"


def test_what_was_saved_is_read_back(place: Path) -> None:
    assert _opened(place).load(_NAME) == {"a": [1, "\ud800"]}
    assert _opened(place).load("runs/two.json") is None


def test_the_folder_keeps_itself_out_of_repositories_and_backups(place: Path) -> None:
    assert (place / ".gitignore").read_bytes() == b"*\n"
    tag = (place / "CACHEDIR.TAG").read_bytes()
    assert tag.startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n")


def test_nothing_but_the_files_themselves_is_left_behind(place: Path) -> None:
    _opened(place).save(_NAME, ["[]"])

    assert sorted(path.name for path in place.rglob("*")) == [
        ".gitignore",
        "CACHEDIR.TAG",
        "one.json",
        "runs",
    ]


def test_what_another_user_sealed_counts_as_absent(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "another"))

    assert _opened(place).load(_NAME) is None


def test_a_file_moved_to_another_name_or_folder_counts_as_absent(place: Path) -> None:
    (place / "runs/two.json").write_bytes((place / _NAME).read_bytes())
    place.rename(place.with_name("moved"))

    assert _opened(place.with_name("moved")).load("runs/two.json") is None
    assert _opened(place.with_name("moved")).load(_NAME) is None


def test_every_changed_byte_and_every_cut_makes_a_file_absent(place: Path) -> None:
    path = place / _NAME
    data = path.read_bytes()
    for at in range(len(data)):
        path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        assert _opened(place).load(_NAME) is None
        path.write_bytes(data[:at])
        assert _opened(place).load(_NAME) is None

    path.write_bytes(data)
    assert _opened(place).load(_NAME) is not None


@pytest.mark.parametrize(
    "data", [b"", b"\x00" * 100, b"[" * 200_000, b"9" * 200_000, b'{"findings": []}', b"\xff\xfe"]
)
def test_what_a_repository_brings_is_not_even_parsed(
    data: bytes, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    head = (place / _NAME).read_bytes()[: module._SEAL_END]  # noqa: SLF001
    monkeypatch.setattr(
        "capturelint.lint.cache.folder.json.loads", lambda text: pytest.fail("it was parsed")
    )
    for made_up in (data, head + data, head.replace(b" ", b"\n") + data):
        (place / _NAME).write_bytes(made_up)

        assert _opened(place).load(_NAME) is None


@posix
def test_links_in_the_folder_are_not_followed(place: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.json"
    (place / _NAME).rename(outside)
    (place / _NAME).symlink_to(outside)
    before = outside.read_bytes()

    assert _opened(place).load(_NAME) is None
    _opened(place).save(_NAME, ["[1]"])
    assert outside.read_bytes() == before
    assert _opened(place).load(_NAME) == [1]


@posix
def test_a_linked_folder_inside_is_neither_read_nor_written(place: Path, tmp_path: Path) -> None:
    (place / "runs").rename(tmp_path / "elsewhere")
    (place / "runs").symlink_to(tmp_path / "elsewhere")

    assert _opened(place).load(_NAME) is None
    _opened(place).save("runs/two.json", ["[1]"])
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["one.json"]


@posix
def test_a_linked_cache_folder_counts_only_when_it_is_named(place: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(place)

    assert CacheFolder.opened(link, is_named=False) is None
    assert _opened(link, is_named=True).load(_NAME) is not None


@posix
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_does_not_make_a_run_wait(place: Path) -> None:
    (place / _NAME).unlink()
    os.mkfifo(place / _NAME)

    assert _opened(place).load(_NAME) is None


def test_a_file_in_place_of_the_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("mine")

    _opened(tmp_path / "cache").save(_NAME, ["[]"])

    assert (tmp_path / "cache").read_text() == "mine"
    assert _opened(tmp_path / "cache").load(_NAME) is None


def test_a_full_disk_leaves_what_was_there(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            super().write(bytes(data)[:10])
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_new", lambda path: Full(path, "x"))
    _opened(place).save(_NAME, ["[2]"])

    assert _opened(place).load(_NAME) == {"a": [1, "\ud800"]}
    assert [path.name for path in (place / "runs").iterdir()] == ["one.json"]


def test_only_what_was_used_last_is_kept(place: Path) -> None:
    kept = _opened(place)
    for number in range(4):
        kept.save(f"runs/{number}.json", ["[]"])
        os.utime(place / f"runs/{number}.json", (time.time() - number, time.time() - number))
    old = time.time() - 40 * 24 * 3600
    os.utime(place / "runs/0.json", (old, old))

    kept.prune("runs", 3)

    assert sorted(path.name for path in (place / "runs").iterdir()) == [
        "1.json",
        "2.json",
        "one.json",
    ]


def test_drafts_that_a_killed_run_left_are_removed_after_a_day(place: Path) -> None:
    for name, age in (("new", 60), ("old", 2 * 24 * 3600)):
        path = place / f"runs/.draft-{name}"
        path.write_bytes(b"half")
        os.utime(path, (time.time() - age, time.time() - age))

    _opened(place).prune("runs", 10)

    assert sorted(path.name for path in (place / "runs").iterdir()) == [".draft-new", "one.json"]


def test_reading_an_old_file_marks_it_as_used(place: Path) -> None:
    old = time.time() - 3 * 24 * 3600
    os.utime(place / _NAME, (old, old))

    _opened(place).load(_NAME)

    assert time.time() - (place / _NAME).stat().st_mtime < 3600


def test_a_cache_that_can_only_be_read_is_read(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    old = time.time() - 3 * 24 * 3600
    os.utime(place / _NAME, (old, old))
    monkeypatch.setattr(os, "utime", refused)

    assert _opened(place).load(_NAME) is not None
