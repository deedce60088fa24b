"""Dispatch modes that see each operation on the device: to look for hazards, to record launches."""

# ruff: noqa: SLF001 - that copies of Python numbers are dispatched has no public name
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode

from capturelint.debug.cuda.look import Look
from capturelint.debug.dispatched.arguments import is_on_device
from capturelint.debug.dispatched.launches import Launches
from capturelint.debug.dispatched.schema import schema_of
from capturelint.debug.dispatched.tensors import tensors_in

_PLAIN = (torch.Tensor, nn.Parameter, nn.Buffer)


class _SeeingMode(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch leaves it so
    """Runs each operation, in its parts where it is made of others, and lets `_run` see them."""

    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        # Else each operation passes through a wrapper, and the first one loads torch._dynamo: 2-5 s.
        return False

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # torch leaves it so

    def again(self) -> _SeeingMode:
        """Return a mode that sees for the same."""
        raise NotImplementedError

    def __torch_dispatch__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload):
            return func(*args, **kwargs)
        if any(kind not in _PLAIN for kind in types):
            return NotImplemented  # the subclass first; its parts come back here
        if schema_of(func).is_composite_on_cuda:
            with self.again():
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return self._run(func, args, kwargs)

    def _run(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        raise NotImplementedError


@contextmanager
def all_seen() -> Iterator[None]:
    """Run what is inside so that a mode sees it: backward in this thread, copies of Python numbers.

    A mode does not see the latter where torch makes their tensors on the device at once.
    """
    before = torch._C._only_lift_cpu_tensors()
    torch._C._set_only_lift_cpu_tensors(True)  # noqa: FBT003 - torch takes no keyword
    try:
        with torch.autograd.set_multithreading_enabled(False):
            yield
    finally:
        torch._C._set_only_lift_cpu_tensors(before)


class LookingMode(_SeeingMode):  # type: ignore[no-untyped-call]  # torch leaves it so
    """Lists the hazards of operations."""

    def __init__(self, look: Look) -> None:
        super().__init__()
        self._look = look

    def again(self) -> LookingMode:
        return LookingMode(self._look)

    def _run(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self._look.meet(func, args, kwargs)
        return func(*args, **kwargs)


class RecordingMode(_SeeingMode):  # type: ignore[no-untyped-call]  # torch leaves it so
    """Writes down what operations launch on the device."""

    def __init__(self, launches: Launches) -> None:
        super().__init__()
        self._launches = launches

    def again(self) -> RecordingMode:
        return RecordingMode(self._launches)

    def _run(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        result = func(*args, **kwargs)
        given = list(tensors_in([*args, *kwargs.values()]))
        if any(is_on_device(tensor) for tensor in (*given, *tensors_in(result))):
            self._launches.add(schema_of(func), args, kwargs, given, result)
        return result
