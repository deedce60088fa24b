"""Name patterns of the settings that match nothing, and whether that is a mistake."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from capturelint.config import Config
from capturelint.lint.linked import Linked
from capturelint.lint.patterns import idle


def unmatched(
    linked: Linked, config: Config, paths: Sequence[Path]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return a line about each pattern that matches nothing: mistakes, then those that are none yet.

    It is a mistake where all that the settings are for was looked at. Of a part of it nobody expects
    that it holds all that is named; of files given one by one nothing is said at all.
    """
    folders = [path for path in paths if path.is_dir()]
    if not folders:
        return (), ()
    named = (("roots", config.roots), ("eager", config.eager), ("step", config.step))
    lines = tuple(
        f"{key}: {line}" for key, patterns in named for line in idle(patterns, linked.project)
    )
    # What is missed may be in a file that could not be read.
    is_whole = not linked.problems and any(_holds(path, config.root) for path in folders)
    return (lines, ()) if is_whole else ((), lines)


def _holds(folder: Path, inside: Path) -> bool:
    return Path(os.path.realpath(inside)).is_relative_to(os.path.realpath(folder))
