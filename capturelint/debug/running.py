"""Which module is running: a stack of paths, kept by standing between callers and modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from torch import nn

from capturelint.debug.attempts.calls import Run, every_call_through
from capturelint.debug.attempts.reachable import reachable


class Running:
    """The modules that are running now.

    `calls`: how often each was called, by path. `raised_in`: the innermost module that the last
    exception left, or None if it was handled and another module called since.
    """

    def __init__(self, paths: Mapping[int, str], root: str) -> None:
        self._paths = paths
        self._stack = [root]
        self.calls: Counter[str] = Counter()
        self.raised_in: str | None = None

    def current(self) -> str:
        """Return the path of the innermost running module that has one."""
        return self._stack[-1]

    def call(
        self, module: nn.Module, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        """Run one call of a module."""
        path = self._paths.get(id(module), self.current())
        self.raised_in = None
        self.calls[path] += 1
        self._stack.append(path)
        try:
            return run(*args, **kwargs)
        except BaseException:
            self._left(path)
            raise
        finally:
            self._stack.pop()

    def _left(self, path: str) -> None:
        if self.raised_in is None:
            self.raised_in = path


@contextmanager
def running(roots: Mapping[str, object], root: str) -> Iterator[Running]:
    """Give what knows the running module. `roots`: the callables by name; `root`: which one runs.

    A module that has no path counts as its caller, and so does what compiled code runs.
    """
    now = Running({id(module): path for path, module in modules_of(roots).items()}, root)
    with every_call_through(now.call, modules_of(roots).values()):
        yield now


def modules_of(roots: Mapping[str, object]) -> dict[str, nn.Module]:
    """Return every module that `roots` hold by path; one of several names has only its first."""
    modules: dict[str, nn.Module] = {}
    met: set[int] = set()
    for path, module in names_of(roots).items():
        if id(module) not in met:
            met.add(id(module))
            modules[path] = module
    return modules


def names_of(roots: Mapping[str, object]) -> dict[str, nn.Module]:
    """Return every module that `roots` hold by path, under all of its names."""
    return {
        joined(name, below): module
        for name, root in roots.items()
        for below, module in reachable(root).items()
    }


def joined(path: str, below: str) -> str:
    """Return the path of what is `below` in `path`."""
    return f"{path}.{below}".strip(".")
