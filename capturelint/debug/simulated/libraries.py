"""Handles of CUDA's libraries: made at the first use, which a capture does not allow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from torch._ops import OpOverload

from capturelint.debug.dispatched.arguments import Arguments
from capturelint.debug.dispatched.forms import FORMS
from capturelint.debug.dispatched.refusal import Refusal
from capturelint.operations.dispatched import FUSED, HANDLES, Handle
from capturelint.operations.messages import NO_DNN

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator


@dataclass(frozen=True, slots=True)
class _Need:
    """One form of an operation that needs a library, "" for none."""

    fits: Callable[[Arguments], bool]
    library: str
    message: str


class Libraries:
    """Which libraries have a handle. One that has it keeps it for the session."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._opened = {""}  # what needs no library has all it needs
        self._fused = 0

    def use(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Note that an operation runs. Refuses if it first uses its library in a capture."""
        needs = _needs_of(func)
        if self._fused or all(need.library in self._opened for need in needs):
            return
        need = _fitting(needs, func, args, kwargs, self._simulator)
        if need is not None:
            self._open(need.library, need.message, str(func))

    def open_dnn(self, operation: str) -> None:
        """Note that cuDNN is used by what has no operation of its own here."""
        self._open("cuDNN", NO_DNN, operation)

    @contextmanager
    def doing(
        self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Iterator[None]:
        """Return a context for the parts of an operation that may be one kernel on CUDA.

        If it is, its parts need no library of their own.
        """
        need = _fitting(_fusions_of(func), func, args, kwargs, self._simulator)
        if need is None:
            yield
            return
        self._open(need.library, need.message, str(func))
        self._fused += 1
        try:
            yield
        finally:
            self._fused -= 1

    def _open(self, library: str, message: str, operation: str) -> None:
        if library in self._opened:
            return
        # What a handle needs is forbidden in other modes than `relaxed` alone (H200, torch 2.11).
        is_relaxed = self._simulator.capture_error_mode == "relaxed"
        if self._simulator.capture is not None and not is_relaxed:
            self._simulator.refuse(Refusal(message, "library", operation))
        self._opened.add(library)


def _fitting(
    needs: tuple[_Need, ...],
    func: OpOverload,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    simulator: Simulator,
) -> _Need | None:
    if not needs:
        return None
    arguments = Arguments(func, args, kwargs, simulator)
    return next((need for need in needs if need.fits(arguments)), None)


@cache
def _needs_of(func: OpOverload) -> tuple[_Need, ...]:
    return _rows_about(func, HANDLES)


@cache
def _fusions_of(func: OpOverload) -> tuple[_Need, ...]:
    return _rows_about(func, FUSED)


def _rows_about(func: OpOverload, rows: tuple[Handle, ...]) -> tuple[_Need, ...]:
    schema = func._schema  # noqa: SLF001 - has no public name
    names = (schema.name, f"{schema.name}.{schema.overload_name}")
    return tuple(
        _Need(FORMS[row.form], row.library, row.message) for row in rows if row.op in names
    )
