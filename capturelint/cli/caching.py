"""Whether a run of `check` keeps what it found, and where."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capturelint.config import Config
    from capturelint.lint.cache.run import Run

_NAME = ".capturelint_cache"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that speak of the cache."""
    group = parser.add_argument_group("cache")
    group.add_argument("--no-cache", action="store_true", help="read everything anew, keep nothing")
    group.add_argument(
        "--cache-dir",
        type=Path,
        metavar="DIR",
        help=f"keep it there (default: {_NAME} beside the configuration)",
    )


def planned(
    options: argparse.Namespace, paths: Sequence[Path], config: Config, given: Config
) -> Run | None:
    """Return the run that is asked for, None if nothing is to be kept.

    `given` are the settings of the file, before the command line changed them to `config`.
    """
    if options.no_cache:
        return None
    from capturelint.lint.cache.folder import CacheFolder
    from capturelint.lint.cache.run import Run
    from capturelint.lint.cache.tool import all_in

    if all_in(config.rule_folders) is None:
        return None  # a rule may read what changes unseen
    asked: Path | None = options.cache_dir
    folder = CacheFolder.opened(asked or config.root / _NAME, is_named=asked is not None)
    return None if folder is None else Run(folder, paths, config, given)
