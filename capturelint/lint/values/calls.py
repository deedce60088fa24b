"""What a call gives."""

from __future__ import annotations

import ast

from capturelint.kind import DEVICE, HOST, UNKNOWN, Kind, Mark, Role, Value
from capturelint.lint.values import builtin_calls, factories, host_sources, modes, tables, tensors
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.changing import changed, written_on_host
from capturelint.lint.values.follow import (
    call_module,
    call_refs,
    is_super_call,
    pass_functions,
    super_attribute,
)
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.join import iterated, join, sequence
from capturelint.lint.values.lookup import OFF, attribute_value, is_debug_flag
from capturelint.lint.values.module_methods import module_method
from capturelint.lint.values.notes import note_name, note_operands
from capturelint.lint.values.outside import call_outside
from capturelint.lint.values.own_calls import note_own_call
from capturelint.lint.values.regional import REGIONAL, mark_region
from capturelint.lint.values.streams import note_streams

# They ask only for the form of what they are given.
_ASKERS = frozenset("len isinstance hasattr id type".split())


def evaluate_call(frame: Frame, node: ast.Call) -> Value:
    """Return what a call gives; under capture, follow it into the project."""
    function = node.func
    receiver: Value | None = None
    reads = len(frame.kept.reads)
    if isinstance(function, ast.Attribute):
        name = function.attr
        receiver, target = _method_target(frame, function)
    else:
        target = frame.evaluate(function)
        name = function.id if isinstance(function, ast.Name) else ""
    if name in _ASKERS:
        with frame.kept.only_asked():
            arguments = evaluated_arguments(frame, node)
    else:
        arguments = evaluated_arguments(frame, node)
    if frame.live:
        note_own_call(frame, node, target, arguments.positional, reads)
        note_streams(frame, node, name, target.name, arguments)
    if frame.live and name and not target.refs and target.kind is not Kind.MODULE:
        note_name(frame, name, target.name, receiver, arguments)
    if name in REGIONAL:
        mark_region(frame, name, receiver, arguments, node)
    if name and not (target.name and not target.refs):
        answer = frame.analysis.surroundings.guard(name) or modes.answer(frame, node)
        if answer is not None:
            return answer
        if "env" in name and _names_debug_flag(arguments):
            return OFF
        if name == "isEnabledFor" and arguments.positional == (OFF,):
            return OFF
    if receiver is not None and (receiver.is_tensor or _is_proven(receiver, target, name)):
        return _tensor_method(frame, receiver, name, arguments, node)
    return _called(frame, receiver, target, name, arguments, node)


def _called(
    frame: Frame,
    receiver: Value | None,
    target: Value,
    name: str,
    arguments: Arguments,
    node: ast.Call,
) -> Value:
    """Return what calling something gives that is no method of a tensor."""
    if target.kind is Kind.MODULE and not target.refs:
        return call_module(frame, target, arguments, node)
    if target.name and not target.refs:
        if target.name in host_sources.MAKERS:
            return Value(Kind.HOST_VALUE, name=host_sources.MAKERS[target.name])
        given = call_outside(frame, target.name, name, arguments, node)
        mark = host_sources.mark_of_function(target.name, given)
        is_new = "pin_memory" in dict(arguments.keywords)
        if is_new and given.pinned and frame.live and given.kind is Kind.HOST_TENSOR:
            mark = Mark.PINNED
        return given if mark is None else changed(frame, mark, node, given)
    if target.refs:
        given = call_refs(frame, target, arguments, node)
        return UNKNOWN if _is_stand_in(target) else given
    if receiver is not None:
        return _on_object(frame, receiver, name, arguments, node)
    return _unknown_callee(frame, target, arguments, node)


def _is_stand_in(target: Value) -> bool:
    """Return whether a function runs only where something outside the project is not installed."""
    is_outside = bool(target.name) and target.name[0] != "@" and target.kind is not Kind.MODULE
    return is_outside and target.refs[0].role is Role.FUNCTION


def evaluated_arguments(frame: Frame, node: ast.Call) -> Arguments:
    """Return the values of a call's arguments."""
    positional: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    is_open = False
    rest: Value | None = None
    for arg in node.args:
        if not isinstance(arg, ast.Starred):
            value = _named_list(arg, frame.evaluate(arg))
            if not is_open:
                positional.append(value)
            continue
        inner = frame.evaluate(arg.value)
        if inner.items is not None and not is_open:
            positional.extend(inner.items)
        else:
            is_open = True
            rest = iterated(inner) if rest is None else join(rest, iterated(inner))
    for keyword in node.keywords:
        value = _named_list(keyword.value, frame.evaluate(keyword.value))
        if keyword.arg is None:
            is_open = True
        else:
            keywords.append((keyword.arg, value))
    return Arguments(tuple(positional), tuple(keywords), is_open, rest)


def _named_list(node: ast.expr, value: Value) -> Value:
    """Return what an argument is; of one that is not known its name may say that it is a list."""
    if value.is_unknown and chain_text(node).endswith("_list"):
        return sequence(None, UNKNOWN)
    return value


def _names_debug_flag(arguments: Arguments) -> bool:
    """Return whether a call such as `get_bool_env_var("X_DEBUG")` asks for a flag of checks."""
    constant = arguments.positional[0].constant if arguments.positional else ()
    return bool(constant) and isinstance(constant[0], str) and is_debug_flag(constant[0])


def _method_target(frame: Frame, function: ast.Attribute) -> tuple[Value | None, Value]:
    """Return the receiver of `receiver.method` (None of `super()`) and what the method is."""
    if is_super_call(function.value):
        return None, super_attribute(frame, function.attr)
    receiver = frame.evaluate(function.value)
    modes.note_use(frame, function.value)
    target = frame.env.get(chain_text(function)) if frame.dotted_keys else None
    if target is None:
        target = UNKNOWN if receiver.is_tensor else attribute_value(frame, receiver, function.attr)
    noted = frame.values if frame.live else frame.driver
    if noted is not None:
        noted[raw_span(function)] = target
    return receiver, target


def _is_proven(receiver: Value, target: Value, name: str) -> bool:
    return (
        receiver.kind is Kind.UNKNOWN
        and not receiver.refs
        and not target.refs
        and not receiver.name
        and (name in tables.PROVING_METHODS or name in tables.SUPPOSING_METHODS)
    )


def _tensor_method(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.Call
) -> Value:
    if receiver.kind is Kind.UNKNOWN:
        is_supposed = name in tables.SUPPOSING_METHODS
        receiver = DEVICE._replace(weak=True) if is_supposed else DEVICE
    if name.endswith("_") and isinstance(node.func, ast.Attribute):
        key = chain_text(node.func.value)
        written_on_host(frame, node.func.value, node.func.value, receiver)
        if frame.self_name and key == f"{frame.self_name}.{key.rpartition('.')[2]}":
            frame.store(key.rpartition(".")[2], receiver)
    note_operands(frame, [receiver, *arguments.positional])
    given = tensors.method(receiver, name, arguments.positional, dict(arguments.keywords))
    mark = host_sources.mark_of_method(receiver, name)
    if name == "pin_memory" and frame.live and receiver.kind is Kind.HOST_TENSOR:
        mark = Mark.PINNED
    return given if mark is None else changed(frame, mark, node, given)


def _on_object(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.Call
) -> Value:
    """Return what a method of something that is neither a tensor nor of the project gives."""
    guard = frame.analysis.surroundings.guard(name)
    if guard is not None:
        return guard
    if receiver.kind is Kind.MODULE:
        return module_method(frame, receiver, name, arguments, node)
    if receiver.kind in (Kind.HOST_VALUE, Kind.SHAPE):
        return builtin_calls.container_method(frame, receiver, name, arguments.positional, node)
    pass_functions(frame, arguments, node)
    if name in tables.READ_METHODS:
        return HOST
    if name == "cpu":
        return Value(Kind.HOST_TENSOR)
    if name in ("size", "numel", "dim"):
        return Value(Kind.SHAPE, "int")
    if name == "to" and arguments.positional and arguments.positional[0].name == "@device":
        return Value(factories.place_of(arguments.positional[0]), weak=True)
    return UNKNOWN


def _unknown_callee(frame: Frame, target: Value, arguments: Arguments, node: ast.Call) -> Value:
    if target.name == "@identity" and arguments.positional:
        return arguments.positional[0]
    pass_functions(frame, arguments, node)
    return UNKNOWN
