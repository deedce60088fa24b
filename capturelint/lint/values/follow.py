"""Following a call into the project, and into modules of torch.nn."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from capturelint.kind import DEVICE, UNKNOWN, Kind, Ref, Role, Value
from capturelint.lint.values import tables
from capturelint.lint.values.arguments import NO_ARGUMENTS, Arguments
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import element_of, join_all, sequence


def call_refs(frame: Frame, target: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Return the join of calling everything of the project that `target` may be."""
    if target.name == "@partial":
        arguments = NO_ARGUMENTS
    results = []
    for ref in target.refs:
        if ref.role is Role.CLASS:
            results.append(_instantiated(frame, ref, arguments, node))
        elif ref.role is Role.INSTANCE:
            results.append(_call_instance(frame, target, ref, arguments, node))
        elif ref.role is not Role.PACKAGE:
            called = frame.analysis.asked.call(frame, ref, arguments, node)
            results.append(_of_class(frame, ref, called))
    return _of_several(results) if results else UNKNOWN


def _of_class(frame: Frame, ref: Ref, result: Value) -> Value:
    """Return what a class method gives: `cls` in it is the class that it was asked of."""
    if ref.owner < 0 or ref.at < 0 or not result.refs:
        return result
    function = frame.analysis.project.functions[ref.at]
    if function.owner in (-1, ref.owner) or "classmethod" not in function.facts.decorators:
        return result
    refs = (
        Ref(one.role, ref.owner)
        if one.role in (Role.INSTANCE, Role.CLASS) and one.at == function.owner
        else one
        for one in result.refs
    )
    return result._replace(refs=tuple(refs))


def _of_several(results: list[Value]) -> Value:
    """Return what calling one of several overrides gives: a tensor where one of them gives one."""
    tensors = [value for value in results if value.is_device_tensor]
    found = join_all(results)
    if found.is_device_tensor or not tensors:
        return found
    is_known = all(value.is_tensor or value.is_host for value in results)
    return join_all(tensors)._replace(optional=True) if is_known else found


def call_method_of_refs(
    frame: Frame, receiver: Value, name: str, args: Sequence[Value], node: ast.AST
) -> Value | None:
    """Call a method that Python calls by itself, such as `__getitem__`; None if there is none."""
    results = []
    for ref in receiver.refs:
        if ref.role is Role.INSTANCE and frame.analysis.project.method(ref.at, name) >= 0:
            found = frame.analysis.attributes.lookup(frame, ref, name)
            if found is not None:
                results.append(call_refs(frame, found, Arguments(tuple(args)), node))
    return join_all(results) if results else None


def super_attribute(frame: Frame, name: str) -> Value:
    """Return what `super().name` is in the method being evaluated."""
    function = frame.function
    owner = -1
    while function is not None:
        owner = function.owner
        if owner >= 0 or function.parent < 0:
            break
        function = frame.analysis.project.functions[function.parent]
    if owner < 0:
        return UNKNOWN
    project = frame.analysis.project
    for base in project.order(owner)[1:]:
        found = project.classes[base].method(name)
        if found is not None:
            return Value(Kind.HOST_VALUE, refs=(Ref(Role.METHOD, found, base),))
    for outside in project.outside_bases(owner):
        if name == "forward" and outside.startswith("torch.nn."):
            return Value(Kind.UNKNOWN, name=f"{outside}.forward")
    return UNKNOWN


def is_super_call(node: ast.expr) -> bool:
    """Return whether an expression is `super()`."""
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )


def pass_functions(frame: Frame, arguments: Arguments, node: ast.AST) -> None:
    """Follow functions that are handed to something which is not known, since it may call them."""
    for value in (*arguments.positional, *(v for _, v in arguments.keywords)):
        for ref in value.refs:
            if ref.role in (Role.FUNCTION, Role.METHOD):
                frame.analysis.asked.call(frame, ref, NO_ARGUMENTS, node)


def call_module(frame: Frame, module: Value, arguments: Arguments, node: ast.AST) -> Value:
    """Return what calling an instance of a class of `torch.nn` gives."""
    last = module.name.rpartition(".")[2]
    if last == "Sequential" and module.element is not None:
        first = Arguments(arguments.positional[:1], (), is_open=False)
        if module.element.refs:
            result = call_refs(frame, module.element, first, node)
            # The output of one element is the input of the next.
            again = call_refs(frame, module.element, Arguments((result,)), node)
            return again if again.kind is not Kind.UNKNOWN else result
        return DEVICE if module.element.name else UNKNOWN
    if not module.name:
        return UNKNOWN
    if last in tables.TUPLE_MODULES:
        return sequence((Value(Kind.DEVICE_TENSOR, "float"), UNKNOWN))
    if last == "Identity" and arguments.positional:
        return arguments.positional[0]
    if module.name.startswith("torch.nn."):
        return Value(Kind.DEVICE_TENSOR, "float")
    return UNKNOWN


def _call_instance(
    frame: Frame, target: Value, ref: Ref, arguments: Arguments, node: ast.AST
) -> Value:
    """Return what calling an instance gives: its `__call__`, or `forward` of a module."""
    analysis = frame.analysis
    project = analysis.project
    name = "__call__" if project.method(ref.at, "__call__") >= 0 else "forward"
    found = analysis.attributes.lookup(frame, ref, name)
    if found is not None and found.refs:
        return call_refs(frame, found, arguments, node)
    for outside in project.outside_bases(ref.at):
        if outside.startswith("torch.nn.") and outside != "torch.nn.Module":
            inner = Value(Kind.MODULE, name=outside, element=target.element)
            return call_module(frame, inner, arguments, node)
    return UNKNOWN


def _instantiated(frame: Frame, ref: Ref, arguments: Arguments, node: ast.AST) -> Value:
    """Return an instance of a project class; its constructor runs where the call does."""
    analysis = frame.analysis
    instance = Ref(Role.INSTANCE, ref.at)
    if analysis.project.is_module(ref.at):
        element = None
        if any(
            b.rpartition(".")[2] in tables.CONTAINERS
            for b in analysis.project.outside_bases(ref.at)
        ):
            element = (
                join_all([element_of(v) for v in arguments.positional])
                if arguments.positional
                else None
            )
        return Value(Kind.MODULE, refs=(instance,), element=element)
    if frame.live:
        analysis.changes.made.add(ref.at)
        if frame.account is not None:
            frame.account.note_made(ref.at)
    if frame.captured:
        constructor = analysis.project.method(ref.at, "__init__")
        if constructor >= 0:
            analysis.asked.call(frame, Ref(Role.METHOD, constructor, ref.at), arguments, node)
    return Value(Kind.HOST_VALUE, refs=(instance,))
