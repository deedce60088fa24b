"""The user's secret, and when none is used."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from capturelint.lint.cache.secret import user_secret

posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")


def _file() -> Path:
    return Path(os.environ["XDG_CACHE_HOME"]) / "capturelint" / "cache.key"


def test_the_secret_is_made_once_and_stays() -> None:
    first = user_secret()

    assert first is not None
    assert len(first) == 32
    assert user_secret() == first
    assert [path.name for path in _file().parent.iterdir()] == ["cache.key"]


@posix
def test_only_the_user_may_read_the_secret() -> None:
    user_secret()

    assert _file().stat().st_mode & 0o777 == 0o600
    assert _file().parent.stat().st_mode & 0o777 == 0o700


@posix
@pytest.mark.parametrize("mode", [0o644, 0o620, 0o602])
def test_a_secret_that_others_may_read_or_write_is_not_used(mode: int) -> None:
    user_secret()
    _file().chmod(mode)

    assert user_secret() is None


@pytest.mark.parametrize("data", [b"", b"short", b"x" * 33])
def test_a_secret_of_another_size_is_not_used(data: bytes) -> None:
    user_secret()
    _file().write_bytes(data)

    assert user_secret() is None


@posix
def test_a_link_in_place_of_the_secret_is_not_followed(tmp_path: Path) -> None:
    user_secret()
    _file().rename(tmp_path / "key")
    _file().symlink_to(tmp_path / "key")

    assert user_secret() is None


def test_without_a_place_for_it_there_is_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file" / "below"))

    assert user_secret() is None


@posix
def test_a_relative_folder_for_caches_does_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It would be inside whatever repository is checked.
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))

    assert user_secret() is not None
    assert not Path("here").exists()
