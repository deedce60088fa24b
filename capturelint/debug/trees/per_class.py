"""Answers about classes, found once for each class."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TypeVar

_Answer = TypeVar("_Answer")


def once_per_class(function: Callable[[type], _Answer]) -> Callable[[type], _Answer]:
    """Remember the answers of `function`. The type says what `cache` forgets: classes hash."""
    return cache(function)
