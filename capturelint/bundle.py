"""Where the built-in rules and fixtures are.

A wheel carries them inside the package; a checkout keeps them beside it. Nothing else in
capturelint knows the difference.
"""

from __future__ import annotations

from pathlib import Path

from capturelint.errors import BrokenInstallError


def bundled(folder: str) -> Path:
    """Return the path of `rules` or `fixtures`. Raises `BrokenInstallError` if it is missing."""
    return _first_folder(folder, Path(__file__).parent)


def _first_folder(folder: str, package: Path) -> Path:
    candidates = [package / folder, package.parent / folder]
    for path in candidates:
        if path.is_dir():
            return path
    raise BrokenInstallError(folder, candidates)
