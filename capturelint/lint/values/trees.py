"""Where the evaluation has the syntax trees of functions from."""

from __future__ import annotations

from typing import Protocol

from capturelint.lint.symbols import Function
from capturelint.source import FunctionNode


class Trees(Protocol):
    """Gives the trees of functions, None of one whose file changed meanwhile."""

    def body_of(self, function: Function) -> FunctionNode | None:
        """Return the tree of a function."""

    def head_of(self, function: Function) -> FunctionNode | None:
        """Return the tree of a function of which the body does not matter, and may be missing."""
