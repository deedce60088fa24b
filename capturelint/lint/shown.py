"""Paths as they are printed."""

from __future__ import annotations

import os
from pathlib import Path


def shown_path(path: str) -> str:
    """Return a path as printed: relative to the working directory, absolute when outside it."""
    # Text, not Path: this is done for each finding, and links must stay as they were given.
    absolute = os.path.abspath(path)  # noqa: PTH100
    here = f"{Path.cwd()}{os.sep}"
    shown = absolute[len(here) :] if absolute.startswith(here) else absolute
    return shown.replace(os.sep, "/")
