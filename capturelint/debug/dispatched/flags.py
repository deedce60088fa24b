"""Variables by which engines know that they are captured: their own graph runners set them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from capturelint.debug.dispatched.patches import Patches
from capturelint.preset import presets_for


@contextmanager
def engines_told() -> Iterator[None]:
    """Run what is inside with the variables of loaded engines set as while capturing.

    Those are variables of files, true or false, that a preset names as asking for a capture.
    """
    patches = Patches()
    try:
        for module, name, value in list(_flags()):
            patches.put(module, name, value)
        yield
    finally:
        patches.put_back()


def _flags() -> Iterator[tuple[ModuleType, str, bool]]:
    loaded = {name.partition(".")[0] for name in sys.modules}
    for preset in presets_for(loaded):
        asked = {
            guard.name: guard.value
            for guard in preset.guards
            if guard.asks_capture and guard.value is not None and "." not in guard.name
        }
        for module in _files(preset.packages) if asked else ():
            for name, value in asked.items():
                if isinstance(vars(module).get(name), bool):
                    yield module, name, value


def _files(packages: tuple[str, ...]) -> list[ModuleType]:
    return [
        module
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in packages and isinstance(module, ModuleType)
    ]
