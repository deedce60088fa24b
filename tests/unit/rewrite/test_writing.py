"""Files are written whole, only as they were read, and only those that are the user's to lose."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from capturelint.lint.cache.content import digest
from capturelint.rewrite.writing import Original, UnwritableError, check_clean, check_own
from tests.repositories import alone, commit, git, needs_git

OLD, NEW = "a = 1\n", "a = 2\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "m.py"
    found.write_text(OLD, encoding="utf-8")
    return found


def _original(path: Path) -> Original:
    return Original.of(path, digest(path.read_bytes()))


def test_a_file_keeps_its_mode_and_link(path: Path) -> None:
    path.chmod(0o755)
    link = path.with_name("link.py")
    link.symlink_to(path.name)

    _original(link).replace(NEW)

    assert path.read_text(encoding="utf-8") == NEW
    assert path.stat().st_mode & 0o777 == 0o755
    assert link.is_symlink()
    assert sorted(one.name for one in path.parent.iterdir()) == ["link.py", "m.py"]


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbf# \xc3\xa9\r\na = 1\r\n", b"# coding: latin-1\n# \xe9\n", b"a = 1"]
)
def test_bytes_that_were_not_touched_stay(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    original = _original(path)

    original.replace(original.text + "b = 2")

    assert path.read_bytes() == data + b"b = 2"


def test_a_text_that_the_encoding_cannot_hold_is_refused(path: Path) -> None:
    path.write_bytes(b"# coding: latin-1\n")

    with pytest.raises(UnwritableError, match="cannot hold the new text in iso-8859-1"):
        _original(path).replace("# \u20ac\n")


def test_a_file_that_changed_since_it_was_checked_is_refused(path: Path) -> None:
    with pytest.raises(UnwritableError, match="has changed since it was read"):
        Original.of(path, digest(b"other"))


def test_a_file_that_changed_since_it_was_read_stays(path: Path) -> None:
    original = _original(path)
    path.write_text("a = 3\n", encoding="utf-8")

    with pytest.raises(UnwritableError, match="has changed since it was read"):
        original.replace(NEW)

    assert path.read_text(encoding="utf-8") == "a = 3\n"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("step", ["fsync", "fdopen"])
def test_an_interrupted_write_leaves_the_old_file(
    path: Path, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = _original(path)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, step, interrupted)
    with pytest.raises(KeyboardInterrupt):
        original.replace(NEW)

    assert path.read_text(encoding="utf-8") == OLD
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(signal, "pthread_sigmask"), reason="no signals are held here")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_process_that_is_ended_leaves_no_draft(path: Path, name: str) -> None:
    code = f"""
import os, signal, sys
from pathlib import Path
from capturelint.lint.cache.content import digest
from capturelint.rewrite.writing import Original

path = Path(sys.argv[1])
original = Original.of(path, digest(path.read_bytes()))
fsync = os.fsync
os.fsync = lambda handle: (os.kill(os.getpid(), signal.{name}), fsync(handle))
signal.signal(signal.{name}, signal.SIG_DFL)
original.replace({NEW!r})
"""
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=False)

    assert done.returncode == -getattr(signal, name)
    assert list(path.parent.iterdir()) == [path]
    assert path.read_text(encoding="utf-8") == NEW


def test_the_draft_of_a_run_that_was_killed_goes(path: Path) -> None:
    path.with_name(".m.py.capturelint-abc").touch()
    other = path.with_name(".m.py.swp")
    other.touch()

    _original(path).replace(NEW)

    assert sorted(path.parent.iterdir()) == [other, path]


def test_a_file_that_is_read_only_stays(path: Path) -> None:
    path.chmod(0o444)

    with pytest.raises(UnwritableError, match="is read-only; make it writable first"):
        _original(path).replace(NEW)

    assert path.read_text(encoding="utf-8") == OLD
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkstemp", full)
    with pytest.raises(UnwritableError, match="cannot be written: No space left on device"):
        _original(path).replace(NEW)


def test_only_files_of_the_project_are_its_own(path: Path, tmp_path: Path) -> None:
    inside = tmp_path / "project"
    inside.mkdir()
    (inside / "link.py").symlink_to(path)
    installed = inside / "venv" / "site-packages" / "m.py"

    check_own(path, tmp_path)
    with pytest.raises(UnwritableError, match="is not in the project"):
        check_own(inside / "link.py", inside)
    with pytest.raises(UnwritableError, match="is an installed package"):
        check_own(installed, inside)


@needs_git
def test_only_what_git_could_give_back_is_clean(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch)
    with pytest.raises(UnwritableError, match="is not known to git"):
        check_clean(path)
    git("init", "--quiet", folder=path.parent)
    with pytest.raises(UnwritableError, match="has changes that are not committed"):
        check_clean(path)
    commit(folder=path.parent)
    check_clean(path)
    path.write_text(NEW, encoding="utf-8")
    with pytest.raises(UnwritableError, match="has changes that are not committed"):
        check_clean(path)
    git("checkout", "--quiet", "m.py", folder=path.parent)
    (path.parent / ".gitignore").write_text("other*.py\n", encoding="utf-8")
    other = path.with_name("other.py")
    other.touch()
    with pytest.raises(UnwritableError, match="has changes that are not committed"):
        check_clean(other)


@needs_git
@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_edits_that_git_was_told_not_to_see_are_seen(
    path: Path, flag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone(monkeypatch)
    git("init", "--quiet", folder=path.parent)
    commit(folder=path.parent)
    git("update-index", flag, "m.py", folder=path.parent)
    check_clean(path)
    path.write_text(NEW, encoding="utf-8")

    with pytest.raises(UnwritableError, match="has changes that are not committed"):
        check_clean(path)
