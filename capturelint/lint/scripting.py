"""Whether a file makes TorchScript of code, of its own or of other files, told by its text."""

from __future__ import annotations

import re
from collections.abc import Container

_WORDS = ("jit.script", "torch.jit import", "torch import jit")
_GIVEN = re.compile(r"(?<![@.\w])(?:torch\.)?(?:jit\.)?script\((?:\s*(\w+)\s*[,)])?")


def scripts_own(text: str) -> bool:
    """Return whether a file names what compiles to TorchScript."""
    return "jit" in text and any(word in text for word in _WORDS)


def scripts_others(text: str, own: Container[str]) -> bool:
    """Return whether a file compiles what is no function of its `own`, other than by a decorator."""
    return scripts_own(text) and any(found[1] not in own for found in _GIVEN.finditer(text))
