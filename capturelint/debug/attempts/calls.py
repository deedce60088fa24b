"""Get between the caller of a module and the module: see its calls, or answer them instead.

`nn.Module.__call__` first looks for `_compiled_call_impl`, where `Module.compile()` puts what to run
instead (torch 2.1 to 2.13). Unlike hooks, what is put there sees modules that are registered
nowhere, the arguments before the user's hooks change them, and calls of compiled modules; and it
does not turn off the faster paths that torch takes for modules without hooks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, Protocol

from torch import nn

_INSTEAD = "_compiled_call_impl"

Run = Callable[..., object]


class Spy(Protocol):
    """Stands between caller and module: `run(*args, **kwargs)` makes the call."""

    def __call__(
        self, module: nn.Module, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object: ...


@contextmanager
def every_call_through(spy: Spy, modules: Iterable[nn.Module]) -> Iterator[None]:
    """Send the calls of all modules through `spy`, registered or not.

    `modules`: where to look for compiled ones. Calls inside compiled code stay unseen.
    """
    before: Run | None = getattr(nn.Module, _INSTEAD)

    def entry(module: nn.Module, /, *args: Any, **kwargs: Any) -> object:
        run = module._call_impl if before is None else partial(before, module)  # noqa: SLF001 - what __call__ runs
        return spy(module, run, args, kwargs)

    with answered_by({module: _through(spy, module) for module in modules if is_compiled(module)}):
        setattr(nn.Module, _INSTEAD, entry)
        try:
            yield
        finally:
            setattr(nn.Module, _INSTEAD, before)


@contextmanager
def answered_by(answers: Mapping[nn.Module, Run]) -> Iterator[None]:
    """Let each of these modules be called without its hooks and forward: `answers` runs instead."""
    before = {module: vars(module).get(_INSTEAD) for module in answers}
    try:
        # Into the dictionary: a wrapper may pass attributes on to another module.
        for module, answer in answers.items():
            vars(module)[_INSTEAD] = answer
        yield
    finally:
        for module, instead in before.items():
            if instead is None:
                vars(module).pop(_INSTEAD, None)
            else:
                vars(module)[_INSTEAD] = instead


def is_compiled(module: nn.Module) -> bool:
    """Return whether `Module.compile()` was called on it."""
    return vars(module).get(_INSTEAD) is not None


def _through(spy: Spy, module: nn.Module) -> Run:
    compiled: Run = vars(module)[_INSTEAD]

    def entry(*args: Any, **kwargs: Any) -> object:
        return spy(module, compiled, args, kwargs)

    return entry
