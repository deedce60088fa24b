"""Packages that running a case needs, and what to say when one is not installed."""

from __future__ import annotations

from importlib.util import find_spec

from capturelint.errors import CapturelintError


class MissingPackageError(CapturelintError):
    """A package that the command needs is not installed."""


def require_torch(user: str = "bisect") -> None:
    """Raise `MissingPackageError` if torch, which `user` needs, is not installed. Does not import it."""
    if find_spec("torch") is None:
        raise MissingPackageError(f"{user} needs torch; pip install 'capturelint[dynamic]'")


def require(package: str) -> None:
    """Raise `MissingPackageError` if `package` is not installed. Does not import it."""
    if find_spec(package) is None:
        raise MissingPackageError(f"{package} is not installed; pip install {package}")
