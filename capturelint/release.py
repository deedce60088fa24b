"""Releases of torch, as settings name them and as the table of operations gives ranges of them."""

from __future__ import annotations

import re
from typing import NamedTuple


class Release(NamedTuple):
    """A release of torch by its first two numbers."""

    major: int
    minor: int

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


# What the table of operations speaks about.
OLDEST = Release(2, 6)
NEWEST = Release(2, 14)
ALLOWED = f"a release of torch from {OLDEST} to {NEWEST}, such as 2.11"


def release_of(text: str) -> Release | None:
    """Return the release that `2.11`, `2.11.0` or `2.11.0+cu130` names; None if it is not known."""
    match = re.fullmatch(r"(\d{1,4})\.(\d{1,4})(\.\d{1,4})?(\+\w[\w.]*)?", text.strip(), re.ASCII)
    if match is None:
        return None
    release = Release(int(match[1]), int(match[2]))
    return release if OLDEST <= release <= NEWEST else None


def is_in(release: Release, versions: str) -> bool:
    """Return whether a range such as `>=2.6,<2.14` holds a release."""
    for bound in versions.split(","):
        major, _, minor = bound.lstrip("<>=").partition(".")
        edge = Release(int(major), int(minor))
        if not (release >= edge if bound.startswith(">=") else release < edge):
            return False
    return True
