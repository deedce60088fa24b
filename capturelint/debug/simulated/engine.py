"""Backward on the simulated device: an error in it reaches the caller instead of ending the process."""
# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch.autograd import Variable

from capturelint.debug.simulated.device import guard


class _Engine:
    """The autograd engine, with the errors that the device's guard had to take out of its way."""

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        """Run backward. Raises what a node or a hook raised."""
        keeper = guard()
        keeper.pending = None
        try:
            return self._engine.run_backward(*args, **kwargs)
        except SystemError:  # "returned NULL without setting an exception"
            error, keeper.pending = keeper.pending, None
            if error is None:
                raise
        raise error


@contextmanager
def errors_kept() -> Iterator[None]:
    """Return a context in which errors in backward are raised by the call that started it."""
    variable: Any = Variable
    before = variable._execution_engine
    variable._execution_engine = _Engine(before)
    try:
        yield
    finally:
        variable._execution_engine = before
