"""Small git repositories for tests, untouched by the settings of whoever runs them."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away what names another repository or other settings, for git and for what starts it."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.org")


def git(*arguments: str, folder: Path | None = None) -> str:
    """Run git in a folder, by default the working directory, and return what it prints."""
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def commit(*, folder: Path | None = None) -> str:
    """Commit all there is and return the id."""
    git("add", "--all", folder=folder)
    git("commit", "--quiet", "--message", "step", folder=folder)
    return git("rev-parse", "HEAD", folder=folder).strip()
