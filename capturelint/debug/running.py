"""Which module is running: a stack of paths kept by hooks on every module."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


class Running:
    """The modules that are running now. `raised_in`: the innermost one that an exception left."""

    def __init__(self, paths: Mapping[int, str], root: str) -> None:
        self._paths = paths
        self._stack = [root]
        self.raised_in: str | None = None

    def current(self) -> str:
        """Return the path of the innermost running module that has one."""
        return self._stack[-1]

    def _enter(self, module: nn.Module, _arguments: object) -> None:
        self.raised_in = None  # an exception before it was handled
        self._stack.append(self._paths.get(id(module), self._stack[-1]))

    def _leave(self, _module: nn.Module, _arguments: object, _result: object) -> None:
        path = self._stack.pop()
        if self.raised_in is None and sys.exc_info()[0] is not None:
            self.raised_in = path


@contextmanager
def running(paths: Mapping[int, str], root: str) -> Iterator[Running]:
    """Give what knows the running module. `paths`: by `id` of the module; others are their caller.

    Modules compiled before have no hooks that fire; what they do counts as their caller's.
    """
    now = Running(paths, root)
    hooks: list[Any] = [
        register_module_forward_pre_hook(now._enter),  # noqa: SLF001 - torch calls them, nobody else
        register_module_forward_hook(now._leave, always_call=True),  # noqa: SLF001
    ]
    try:
        yield now
    finally:
        for hook in hooks:
            hook.remove()


def paths_of(roots: Mapping[str, object]) -> dict[int, str]:
    """Return the path of every module under `roots`, by its `id`; a shared one has its first."""
    paths: dict[int, str] = {}
    for name, root in roots.items():
        if isinstance(root, nn.Module):
            for below, module in root.named_modules():
                paths.setdefault(id(module), f"{name}.{below}".strip("."))
    return paths
