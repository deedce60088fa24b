"""Names that arms of a module's own `if` or `try` bind: what each arm says, joined into one text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

# In names of our own; identifiers may hold it.
_MARK = "\u00b7"
# A name that nothing has: what `try` tests cannot be told.
_UNTOLD = f"_{_MARK}"


def arms_of(node: ast.stmt) -> Sequence[list[ast.stmt]]:
    """Return the arms of a branch of which one is run, of others none."""
    if isinstance(node, ast.If):
        return (node.body, node.orelse)
    if isinstance(node, ast.Try):
        return ([*node.body, *node.orelse], *(handler.body for handler in node.handlers))
    return ()


class Choice:
    """Takes what each arm binds out of `functions` and `assigns` of a file, and puts back the choice.

    `functions`: top-level functions by their places; `assigns`: names with the text of their value.
    A function that is one of several has a name with its place, such as `f` with a dot and 3.
    """

    def __init__(self, functions: dict[str, int], assigns: dict[str, str]) -> None:
        self._functions, self._assigns = functions, assigns
        self._before, self._known = dict(functions), frozenset(assigns)
        self._arms: list[dict[str, str]] = []

    def end_arm(self) -> None:
        """Take out what the arm that was walked last binds."""
        arm: dict[str, str] = {}
        for name, at in list(self._functions.items()):
            if _MARK not in name and self._before.get(name) != at:
                arm[name] = f"{name}{_MARK}{at}"
                self._functions[arm[name]] = self._functions.pop(name)
        for name in [name for name in self._assigns if name not in self._known]:
            arm[name] = self._assigns.pop(name)
        self._functions.update(self._before)
        self._arms.append(arm)

    def settle(self, test: str) -> None:
        """Put back what names stand for after all arms. `test`: that of an `if`, "" if not told."""
        for name in dict.fromkeys(name for arm in self._arms for name in arm):
            said = [arm.get(name) for arm in self._arms]
            at = self._before.get(name)
            if at is not None and None in said:
                old = f"{name}{_MARK}{at}"
                self._functions[old] = at
                said = [old if text is None else text for text in said]
            self._bind(name, _joined(said, test))

    def _bind(self, name: str, text: str) -> None:
        at = self._functions.pop(text, None)
        if at is not None:
            self._functions[name] = at
            return
        self._functions.pop(name, None)
        self._assigns[name] = text


def _joined(said: Sequence[str | None], test: str) -> str:
    """Return one text for what arms say of a name; "" if it cannot be told."""
    texts = list(dict.fromkeys(text for text in said if text is not None))
    if "" in texts:
        # Beside a value that is too long to be kept, only a function counts.
        return next((text for text in reversed(texts) if _MARK in text), "")
    joined = texts.pop()
    while texts:
        joined = f"({texts.pop()}) if ({test or _UNTOLD}) else ({joined})"
    return joined
