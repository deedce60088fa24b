"""The secret by which capturelint knows what it wrote itself, kept outside any repository.

A checked repository may ship a made-up cache, which could claim that there are no findings. So each
cache file is sealed with a secret of the user, and one sealed otherwise counts as absent.
"""

from __future__ import annotations

import os
import secrets
import stat
import sys
from contextlib import suppress
from pathlib import Path

_SIZE = 32
_NAME = "cache.key"


def user_secret() -> bytes | None:
    """Return the user's secret, made when there is none; None where none can be kept safely."""
    folder = _home()
    if folder is None:
        return None
    path = folder / "capturelint" / _NAME
    try:
        return _read(path) or _made(path)
    except OSError:
        return None


def _home() -> Path | None:
    """Return the user's folder for caches; None where the environment names none."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if named and Path(named).is_absolute():
        return Path(named)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", "")
        return Path(local) if local else None
    try:
        home = Path.home()
    except RuntimeError:
        return None
    if not home.is_absolute():
        return None
    return home / "Library" / "Caches" if sys.platform == "darwin" else home / ".cache"


def _read(path: Path) -> bytes | None:
    """Return the secret in a file, None if there is none or others may know or change it."""
    try:
        handle = os.open(path, os.O_RDONLY | _UNFOLLOWED)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode) or not _is_private(status):
            raise PermissionError(f"{path} is not private")
        secret = file.read(_SIZE + 1)
    if len(secret) != _SIZE:
        raise PermissionError(f"{path} holds no secret")
    return secret


def _is_private(status: os.stat_result) -> bool:
    if sys.platform == "win32":
        return True  # the folder's own access list keeps others out
    return status.st_uid == os.geteuid() and not status.st_mode & 0o077


def _made(path: Path) -> bytes | None:
    """Write a new secret unless another run is quicker, and return the one that is there."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{_NAME}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _UNFOLLOWED, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(secrets.token_bytes(_SIZE))
        # Unlike a rename, a link does not replace the secret of a run that was quicker.
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return _read(path)


_UNFOLLOWED = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
