"""Whether a case uses `torch.compile`: its code must be compiled before it is captured."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import wraps
from typing import Any

import torch
from torch import nn

from capturelint.debug.dispatched.patches import Patches


class Compiling:
    """Notes uses of `torch.compile`. `is_used`: there was one, in this session or before it."""

    def __init__(self) -> None:
        self.is_used = _was_used()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note each function or module that is compiled inside."""
        patches = Patches()
        try:
            self._put(patches, torch)
            self._put(patches, nn.Module)
            yield
        finally:
            patches.put_back()

    def eagerly(self) -> AbstractContextManager[None]:
        """Return a context in which what is compiled runs eagerly."""
        if not self.is_used:
            return nullcontext()
        stance: AbstractContextManager[None] = torch.compiler.set_stance("force_eager")
        return stance

    def _put(self, patches: Patches, owner: Any) -> None:
        real = owner.compile

        @wraps(real)
        def noting(*args: Any, **kwargs: Any) -> Any:
            self.is_used = True
            return real(*args, **kwargs)

        patches.put(owner, "compile", noting)


def _was_used() -> bool:
    utils: Any = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", {})
    return bool(counters.get("frames"))
