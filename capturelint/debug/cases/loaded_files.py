"""Which files the loaded code is from, and whether they are still the same."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

# They are many, and nobody edits them between two runs.
_STEADY = frozenset({*sys.stdlib_module_names, "numpy", "torch"})


def stamps_of_loaded() -> dict[str, str]:
    """Return size and time of change, by path, for all loaded modules but Python's and torch's."""
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] not in _STEADY and isinstance(module, ModuleType)
    ]
    # Asking a module for an attribute may run its code; looking into its dictionary does not.
    paths = {module.__dict__.get("__file__") for module in modules}
    return {path: stamp(path) for path in sorted(p for p in paths if isinstance(p, str))}


def are_unchanged(stamps: Mapping[str, str]) -> bool:
    """Return whether every file is as it was when the stamps were made."""
    return all(stamp(path) == before for path, before in stamps.items())


def stamp(path: str) -> str:
    """Return size and time of change of a file."""
    try:
        status = Path(path).stat()
    except (OSError, ValueError):  # ValueError: it cannot be a path
        return "missing"
    return f"{status.st_size} {status.st_mtime_ns}"
