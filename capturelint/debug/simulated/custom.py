"""Operators that are not torch's own: their Python bodies run on the device, others cannot."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import OpOverload

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator

_KEYS = ("CUDA", "CompositeExplicitAutograd")
_COMPILED = (".cpp", ".cu", ".cc", ".cxx", ".h", ".hpp", ".mm")


def run_custom(
    simulator: Simulator, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run the Python body that an operator has for CUDA, on device tensors.

    Raises CannotTellError if its kernel is compiled: what that does on a GPU cannot be seen here.
    """
    key = _key_with_body(str(func._name))
    if key is None:
        raise simulator.cannot_tell(f"the custom operator {func._schema.name}")
    with simulator.dispatching():
        return func._op_dk(key, *args, **kwargs)


def _key_with_body(name: str) -> torch._C.DispatchKey | None:
    """Return the dispatch key of a kernel that was registered from Python, or None."""
    registered: str = torch._C._dispatch_dump(name)
    for key in _KEYS:
        found = re.search(rf"^{key}(?:\[alias\])?: registered at (.*):\d+ ::", registered, re.M)
        if found and not found[1].endswith(_COMPILED):
            return getattr(torch._C.DispatchKey, key)  # type: ignore[no-any-return]
    return None


def run_higher_order(simulator: Simulator, func: Any, args: tuple[Any, ...]) -> Any:
    """Run an operator that takes functions, of which only a branch can be simulated.

    Raises CannotTellError for the others.
    """
    name = func.name() if callable(getattr(func, "name", None)) else str(func)
    if name != "cond":
        raise simulator.cannot_tell(f"the higher-order operator {name}")
    with simulator.dispatching():
        predicate, if_true, if_false, operands = args
        return (if_true if bool(predicate) else if_false)(*operands)
