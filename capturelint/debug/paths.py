"""Paths of modules: which is inside which, and whether a user's patterns match any."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase

from capturelint.debug.cases.mistakes import CaseError


def check_globs(option: str, globs: Sequence[str], modules: Iterable[str]) -> None:
    """Raise `CaseError` for the first of `globs` that no path of `modules` matches."""
    paths = list(modules)
    for glob in globs:
        if not any(fnmatchcase(path, glob) for path in paths):
            near = get_close_matches(glob, paths, n=1)
            hint = f"did you mean {near[0]}?" if near else f"paths are such as {paths[-1]!r}"
            raise CaseError(f"{option} {glob}: no module has such a path; {hint}")


def is_below(path: str, root: str) -> bool:
    """Return whether `path` is that of `root` or of a module inside it."""
    return root in ("", path) or path.startswith(f"{root}.")


def is_part(path: str, root: str, without: Iterable[str]) -> bool:
    """Return whether `path` is that of `root` or of a module inside it, but of none in `without`."""
    return is_below(path, root) and not any(is_below(path, one) for one in without)
