"""What the table of operations says about one operation that a capture meets."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from torch._ops import OpOverload

from capturelint.debug.dispatched.arguments import Arguments, is_on_host
from capturelint.debug.dispatched.explaining import explained
from capturelint.debug.dispatched.forms import FORMS
from capturelint.debug.dispatched.refusal import NOT_PERMITTED, UNPINNED, Refusal
from capturelint.debug.dispatched.schema import schema_of
from capturelint.operations.dispatched import DISPATCHED, Dispatched
from capturelint.operations.messages import FOREIGN_GENERATOR

if TYPE_CHECKING:
    from capturelint.debug.dispatched.arguments import Device


@dataclass(frozen=True, slots=True)
class _Trap:
    """One form of one operation. `refusal`: None where the form is safe."""

    fits: Callable[[Arguments], bool]
    refusal: Refusal | None


def refusal_of(
    func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], device: Device
) -> Refusal | None:
    """Return why a capture refuses an operation with these arguments, or None if it does not."""
    generator = kwargs.get("generator") if kwargs else None
    if generator is not None and device.is_foreign(generator):
        return Refusal(FOREIGN_GENERATOR, "random", str(func), sticky=False)
    traps = traps_of(func)
    if not traps:
        return None
    arguments = Arguments(func, args, kwargs, device)
    trap = next((trap for trap in traps if trap.fits(arguments)), None)
    if trap is None or trap.refusal is None:
        return None
    hosts = [one for one in arguments.tensors() if is_on_host(one)]
    is_whole = func._schema.name == "aten::copy_" and any(one.dim() for one in hosts)
    return explained(trap.refusal, is_whole=is_whole)


@cache
def traps_of(func: OpOverload) -> tuple[_Trap, ...]:
    """Return what the table says about an overload, first that about it alone.

    A number that any other operation makes of data on the device was read on the host.
    """
    schema = func._schema
    rows = _rows(f"{schema.name}.{schema.overload_name}") or _rows(schema.name)
    traps = tuple(_Trap(FORMS[row.form], _refusal(row, str(func))) for row in rows)
    if not traps and schema_of(func).reads:
        read = Refusal(NOT_PERMITTED, "host-read", str(func), code="CL101")
        return (_Trap(FORMS[""], read),)
    return traps


def _rows(name: str) -> list[Dispatched]:
    return [row for row in DISPATCHED if row.op == name]


def _refusal(row: Dispatched, operation: str) -> Refusal | None:
    if row.effect is None:
        return None
    # Torch itself refuses an unpinned copy, before CUDA is asked: the capture stays valid.
    sticky = row.message != UNPINNED
    return Refusal(row.message, row.kind, operation, row.rule, row.effect, sticky)
