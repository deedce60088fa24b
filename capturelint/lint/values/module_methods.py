"""What methods of a module from torch give, and what they register."""

from __future__ import annotations

import ast

from capturelint.kind import DEVICE, HOST, NONE, UNKNOWN, Kind, Value
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.follow import call_module, pass_functions
from capturelint.lint.values.frame import Frame, chain_text
from capturelint.lint.values.join import iterated, join, sequence


def module_method(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.Call
) -> Value:
    """Return what `module.name(...)` gives."""
    if name in ("register_buffer", "register_parameter") and len(arguments.positional) > 1:
        _register(frame, arguments, node)
        return NONE
    if name in ("append", "extend", "insert", "add_module") and arguments.positional:
        _hold(frame, receiver, name, arguments.positional[-1], node)
        return receiver
    if name in ("forward", "__call__"):
        return call_module(frame, receiver, arguments, node)
    if name in ("values", "children", "modules"):
        return sequence(None, receiver.element or UNKNOWN)
    if name in ("items", "named_children", "named_modules"):
        return sequence(None, sequence((HOST, receiver.element or UNKNOWN)))
    if name in ("keys",):
        return sequence(None, HOST)
    if name in ("parameters", "buffers"):
        return sequence(None, DEVICE)
    if name in (
        "to",
        "cuda",
        "eval",
        "train",
        "half",
        "float",
        "bfloat16",
        "requires_grad_",
        "cpu",
    ):
        return receiver
    pass_functions(frame, arguments, node)
    return UNKNOWN


def _hold(frame: Frame, receiver: Value, name: str, value: Value, node: ast.Call) -> None:
    """Note that a container such as `nn.ModuleList` holds one more module."""
    key = chain_text(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    held = iterated(value) if name == "extend" else value
    element = held if receiver.element is None else join(receiver.element, held)
    grown = receiver._replace(element=element)
    owner, _, attribute = key.rpartition(".")
    if owner and owner == frame.self_name:
        frame.store(attribute, grown)
    elif key in frame.env:
        frame.env[key] = grown


def _register(frame: Frame, arguments: Arguments, node: ast.Call) -> None:
    """Note `self.register_buffer("table", tensor)`: it moves with the module, so to the device."""
    key, value = arguments.positional[:2]
    is_own = isinstance(node.func, ast.Attribute) and chain_text(node.func.value) == frame.self_name
    if is_own and key.constant:
        placed = value if value.is_none else Value(Kind.DEVICE_TENSOR, value.dtype, value.rank)
        frame.store(str(key.constant[0]), placed)
