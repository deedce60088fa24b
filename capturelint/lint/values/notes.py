"""What is noted of a call, so that rules run only on functions that hold their forms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from capturelint.kind import Kind, Value
from capturelint.lint.values import factories
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.frame import Frame
from capturelint.rule import Trait


def note_name(
    frame: Frame, name: str, full_name: str, receiver: Value | None, arguments: Arguments
) -> None:
    """Note the name of a call, and of what kind its receiver and arguments are.

    What the words in brackets ask for is said in `capturelint.rule.Triggers`.
    """
    noted = frame.names
    noted.add(name)
    is_method = receiver is not None and not full_name
    if full_name:
        noted.add(full_name)
    if is_method and receiver is not None and receiver.is_device_tensor:
        noted.add(f"{name}(self)")
    if any(value.name == "torch.Generator" for _, value in arguments.keywords):
        frame.note(Trait.OWN_GENERATOR)
    given = [*arguments.positional, *(value for _, value in arguments.keywords)]
    if len(given) == 1:
        noted.add(f"{name}(1)")
    noted.update(_tensor_forms(name, full_name, arguments, is_method=is_method))
    for value in (*given, receiver) if receiver is not None else given:
        if value.kind is Kind.HOST_TENSOR:
            noted.add(f"{name}(host)")
        elif _names_device(value) and factories.place_of(value) is Kind.HOST_TENSOR:
            noted.add(f"{name}(cpu)")


def _tensor_forms(
    name: str, full_name: str, arguments: Arguments, *, is_method: bool
) -> Iterator[str]:
    """Yield what tells which arguments are device tensors."""
    for position, value in enumerate(arguments.positional):
        if _has_tensor(value):
            # Only a function from outside is known by its full name; else a receiver comes first.
            operand = position if full_name else position + 1
            yield from (f"{name}(@{operand})", f"{name}(tensor)")
            yield f"{full_name}(tensor)"
            if position or is_method:
                yield f"{name}(more)"
    for number, (keyword, value) in enumerate(arguments.keywords):
        if _has_tensor(value):
            yield from (f"{name}({keyword}=)", f"{name}(tensor)", f"{full_name}(tensor)")
            if number or arguments.positional or is_method:
                yield f"{name}(more)"


def _names_device(value: Value) -> bool:
    return value.name == "@device" or bool(value.constant and isinstance(value.constant[0], str))


def _has_tensor(value: Value) -> bool:
    if value.is_device_tensor:
        return True
    if value.items:
        return any(item.is_device_tensor for item in value.items)
    return value.element is not None and value.element.is_device_tensor


def note_operands(frame: Frame, values: Sequence[Value]) -> None:
    """Note where tensors on the host and on the device meet."""
    kinds = {value.kind for value in values}
    if Kind.HOST_TENSOR in kinds and Kind.DEVICE_TENSOR in kinds:
        frame.note(Trait.HOST_SCALAR_OPERAND)
