"""What a function must contain for a rule to be run on it, and what is noted of functions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Trait(Enum):
    """What the values pass notes about a function, so that most rules need not look at it."""

    TENSOR_TEST = "a device tensor decides a branch, loop, assert, `and`, `or` or `not`"
    TENSOR_SUBSCRIPT = (
        "a subscript with a mask, a list, a host tensor, a 0-d index or bound, or a number stored"
    )
    TENSOR_REPEAT = "a list or text is repeated as often as a device tensor says"
    TENSOR_ITERATION = "a device tensor is iterated over"
    TENSOR_MEMBERSHIP = "`in` or `not in` with a device tensor on a side"
    TENSOR_FORMAT = "a device tensor is formatted or printed"
    TENSOR_KEPT = "a tensor is put in an attribute of self"
    OWN_GENERATOR = "a generator made by the project is passed on"
    FIRST_CALL = "a block of the first call keeps a tensor"
    CHANGING_VALUE = "a host value changes from call to call"
    HOST_SCALAR_OPERAND = "a tensor on the host is an operand of device work"


@dataclass(frozen=True, slots=True)
class Triggers:
    """What a function must contain for a rule to be worth running on it; any one suffices.

    `names` are the last parts of called or read names: `item` for `x.item()`, `tensor` for
    `torch.tensor(...)`; a function from outside the project also has its dotted name. In brackets:
    `range(tensor)` asks for a device tensor among the arguments, `pad(more)` for one after the first
    operand, `full(@1)` for one as the operand of that number (the first is 0), `add(alpha=)` for one
    given by that name, `norm(self)` for one as the receiver, `to(host)` for a host tensor as receiver or
    argument, `to(cpu)` for the CPU as a target, `where(1)` for exactly one argument. A trigger may
    be too generous, never too strict.
    """

    names: frozenset[str] = frozenset()
    traits: frozenset[Trait] = frozenset()
