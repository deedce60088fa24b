"""What a call gives, and which functions of the project it reaches."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from capturelint.kind import DEVICE, HOST, NONE, UNKNOWN, Kind, Ref, Role, Value
from capturelint.lint.values import builtin_calls, tables, tensors
from capturelint.lint.values.frame import Frame, chain_text, raw_span
from capturelint.lint.values.join import element_of, join_all, sequence
from capturelint.lint.values.lookup import attribute_value
from capturelint.rule import Trait

_GRAPH_MODES = ("reduce-overhead", "max-autotune")
_CALLERS = frozenset("checkpoint map apply tree_map vmap cond while_loop filter submit".split())
_TRANSPARENT = frozenset(
    "torch.compile torch.jit.script torch.no_grad torch.inference_mode torch.compiler.allow_in_graph "
    "torch.vmap torch.func.vmap torch._dynamo.optimize functools.wraps torch.enable_grad "
    "torch.jit.script_if_tracing copy.copy copy.deepcopy typing.cast_ torch.compiler.assume_constant_result".split()
)


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a call passes. `is_open`: `*args` or `**kwargs` may pass more."""

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    is_open: bool = False


NO_ARGUMENTS = Arguments(is_open=True)


def evaluate_call(frame: Frame, node: ast.Call) -> Value:
    """Return what a call gives; under capture, follow it into the project."""
    function = node.func
    receiver: Value | None = None
    if isinstance(function, ast.Attribute):
        name = function.attr
        receiver, target = _method_target(frame, function)
    else:
        target = frame.evaluate(function)
        name = function.id if isinstance(function, ast.Name) else ""
    arguments = evaluated_arguments(frame, node)
    if frame.live and name and not target.refs and target.kind is not Kind.MODULE:
        _note_name(frame, name, target.name, receiver, arguments)
    if frame.captured and name and not (target.name and not target.refs):
        answer = frame.analysis.guard(name)
        if answer is not None:
            return Value(Kind.HOST_VALUE, constant=(answer,))
    if receiver is not None and (receiver.is_tensor or _is_proven(receiver, target, name)):
        return _tensor_method(frame, receiver, name, arguments, node)
    if target.kind is Kind.MODULE and not target.refs:
        return _call_module(frame, target, arguments, node)
    if target.name and not target.refs:
        return _outside(frame, target.name, name, arguments, node)
    if target.refs:
        return call_refs(frame, target, arguments, node)
    if receiver is not None:
        return _on_object(frame, receiver, name, arguments, node)
    return _unknown_callee(frame, target, arguments, node)


def evaluated_arguments(frame: Frame, node: ast.Call) -> Arguments:
    """Return the values of a call's arguments."""
    positional: list[Value] = []
    keywords: list[tuple[str, Value]] = []
    is_open = False
    for arg in node.args:
        if not isinstance(arg, ast.Starred):
            value = frame.evaluate(arg)
            if not is_open:
                positional.append(value)
            continue
        inner = frame.evaluate(arg.value)
        if inner.items is not None and not is_open:
            positional.extend(inner.items)
        else:
            is_open = True
    for keyword in node.keywords:
        value = frame.evaluate(keyword.value)
        if keyword.arg is None:
            is_open = True
        else:
            keywords.append((keyword.arg, value))
    return Arguments(tuple(positional), tuple(keywords), is_open)


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
            results.append(frame.analysis.call(frame, ref, arguments, node))
    return join_all(results) if results else UNKNOWN


def call_method_of_refs(
    frame: Frame, receiver: Value, name: str, args: Sequence[Value], node: ast.AST
) -> Value | None:
    """Call a method that Python calls by itself, such as `__getitem__`; None if there is none."""
    results = []
    for ref in receiver.refs:
        if ref.role is Role.INSTANCE and frame.analysis.project.method(ref.index, name) >= 0:
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
        found = project.classes[base].methods.get(name)
        if found is not None:
            return Value(Kind.HOST_VALUE, refs=(Ref(Role.METHOD, found, base),))
    for outside in project.outside_bases(owner):
        if name == "forward" and outside.startswith("torch.nn."):
            return Value(Kind.UNKNOWN, name=f"{outside}.forward")
    return UNKNOWN


def pass_functions(frame: Frame, arguments: Arguments, node: ast.AST) -> None:
    """Follow functions that are handed to something which is not known, since it may call them."""
    for value in (*arguments.positional, *(v for _, v in arguments.keywords)):
        for ref in value.refs:
            if ref.role in (Role.FUNCTION, Role.METHOD):
                frame.analysis.call(frame, ref, NO_ARGUMENTS, node)


def _method_target(frame: Frame, function: ast.Attribute) -> tuple[Value | None, Value]:
    """Return the receiver of `receiver.method` (None of `super()`) and what the method is."""
    if _is_super_call(function.value):
        return None, super_attribute(frame, function.attr)
    receiver = frame.evaluate(function.value)
    target = frame.env.get(chain_text(function)) if frame.dotted_keys else None
    if target is None:
        target = UNKNOWN if receiver.is_tensor else attribute_value(frame, receiver, function.attr)
    if frame.live:
        frame.values[raw_span(function)] = target
    return receiver, target


def _is_proven(receiver: Value, target: Value, name: str) -> bool:
    return (
        receiver.kind is Kind.UNKNOWN
        and not receiver.refs
        and not target.refs
        and not receiver.name
        and name in tables.PROVING_METHODS
    )


def _note_name(
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
    given = [*arguments.positional, *(value for _, value in arguments.keywords)]
    if len(given) == 1:
        noted.add(f"{name}(1)")
    for position, value in enumerate(given):
        if _has_tensor(value):
            noted.add(f"{name}(tensor)")
            if full_name:
                noted.add(f"{full_name}(tensor)")
            if position or is_method:
                noted.add(f"{name}(more)")
    for value in (*given, receiver) if receiver is not None else given:
        if value.kind is Kind.HOST_TENSOR:
            noted.add(f"{name}(host)")
        elif value.name == "@device" or (value.constant and isinstance(value.constant[0], str)):
            if tensors.place_of(value) is Kind.HOST_TENSOR:
                noted.add(f"{name}(cpu)")


def _has_tensor(value: Value) -> bool:
    if value.is_device_tensor:
        return True
    if value.items:
        return any(item.is_device_tensor for item in value.items)
    return value.element is not None and value.element.is_device_tensor


def _note_operands(frame: Frame, values: Sequence[Value]) -> None:
    kinds = {value.kind for value in values}
    if Kind.HOST_TENSOR in kinds and Kind.DEVICE_TENSOR in kinds:
        frame.note(Trait.HOST_SCALAR_OPERAND)


def _tensor_method(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.Call
) -> Value:
    if receiver.kind is Kind.UNKNOWN:
        receiver = DEVICE
    if name.endswith("_") and isinstance(node.func, ast.Attribute):
        key = chain_text(node.func.value)
        if frame.self_name and key == f"{frame.self_name}.{key.rpartition('.')[2]}":
            frame.store(key.rpartition(".")[2], receiver)
    _note_operands(frame, [receiver, *arguments.positional])
    return tensors.method(receiver, name, arguments.positional, dict(arguments.keywords))


def _outside(frame: Frame, name: str, last: str, arguments: Arguments, node: ast.Call) -> Value:
    """Return what something from outside the project gives when called."""
    guard = frame.analysis.guard(name)
    if guard is not None:
        return Value(Kind.HOST_VALUE, constant=(guard,))
    keywords = dict(arguments.keywords)
    if name.startswith("builtins."):
        return builtin_calls.evaluate(frame, name[9:], arguments.positional, keywords, node)
    if name in _TRANSPARENT:
        return _wrapped(frame, name, arguments, keywords, node)
    if name.startswith(("functools.partial", "torch.compiler.", "torch._dynamo.")):
        return _partial(frame, arguments, node)
    if name.endswith("make_graphed_callables"):
        frame.analysis.add_graphed(arguments.positional[:1], node, frame)
        return arguments.positional[0] if arguments.positional else UNKNOWN
    if last in _CALLERS or name.endswith(".checkpoint"):
        return _called_for_us(frame, name, arguments, node)
    pass_functions(frame, arguments, node)
    if (
        name.startswith("torch.nn.")
        and name.count(".") >= 2
        and name.rpartition(".")[2][:1].isupper()
    ):
        return _made_module(name, arguments)
    if name in ("torch.nn.Parameter", "torch.nn.Buffer"):
        dtype = arguments.positional[0].dtype if arguments.positional else ""
        return Value(Kind.DEVICE_TENSOR, dtype)
    if name.startswith("torch.ops.") or name.startswith("torch.classes."):
        return UNKNOWN
    if name.startswith(("torch.", "torchvision.ops.")):
        _note_operands(frame, arguments.positional)
        found = tensors.function(
            name, arguments.positional, keywords, frame.analysis.default_place(frame)
        )
        return (
            found
            if found.kind is not Kind.HOST_VALUE or found.name
            else found._replace(name=_made(name))
        )
    if name.startswith("einops.") and arguments.positional:
        first = arguments.positional[0]
        return Value(first.kind, first.dtype) if first.is_tensor else UNKNOWN
    if name.startswith("itertools."):
        return builtin_calls.evaluate(frame, last, arguments.positional, keywords, node)
    top = name.partition(".")[0]
    return HOST if top in ("numpy", "np", "math", "os", "time", "random", "json", "re") else UNKNOWN


def _made(name: str) -> str:
    """Return the class name that an object made by `torch.cuda.Event(...)` and the like carries."""
    last = name.rpartition(".")[2]
    if last in ("current_stream", "default_stream", "ExternalStream"):
        return "torch.cuda.Stream"
    return name if last in ("Event", "Stream", "Generator") else ""


def _wrapped(
    frame: Frame, name: str, arguments: Arguments, keywords: dict[str, Value], node: ast.Call
) -> Value:
    """Return the function that a wrapper such as `torch.compile(f)` gives back."""
    mode = keywords.get("mode")
    if (
        name == "torch.compile"
        and mode is not None
        and mode.constant
        and mode.constant[0] in _GRAPH_MODES
    ):
        frame.analysis.add_graphed(arguments.positional[:1], node, frame)
    if arguments.positional:
        return arguments.positional[0]
    return Value(Kind.HOST_VALUE, name="@identity")


def _partial(frame: Frame, arguments: Arguments, node: ast.Call) -> Value:
    if not arguments.positional:
        return UNKNOWN
    first = arguments.positional[0]
    if not first.refs:
        return first
    bound = Arguments(arguments.positional[1:], arguments.keywords, is_open=True)
    for ref in first.refs:
        if ref.role in (Role.FUNCTION, Role.METHOD):
            frame.analysis.note_arguments(frame, ref, bound)
    return first._replace(name="@partial")


def _called_for_us(frame: Frame, name: str, arguments: Arguments, node: ast.Call) -> Value:
    """Return what `checkpoint(f, *args)` and its kind give: the function is called with the rest."""
    if not arguments.positional:
        return UNKNOWN
    first = arguments.positional[0]
    is_exact = name.endswith((".checkpoint", ".apply"))
    rest = Arguments(arguments.positional[1:], (), is_open=True) if is_exact else NO_ARGUMENTS
    if first.refs:
        return call_refs(frame, first, rest, node)
    pass_functions(frame, arguments, node)
    return UNKNOWN


def _made_module(name: str, arguments: Arguments) -> Value:
    """Return an instance of a class of `torch.nn`; containers keep what they hold."""
    last = name.rpartition(".")[2]
    if name.startswith(("torch.nn.utils.", "torch.nn.init.", "torch.nn.functional.")):
        return tensors.function(
            name, arguments.positional, dict(arguments.keywords), Kind.HOST_TENSOR
        )
    if last == "Parameter":
        dtype = arguments.positional[0].dtype if arguments.positional else ""
        return Value(Kind.DEVICE_TENSOR, dtype)
    if last not in tables.CONTAINERS:
        return Value(Kind.MODULE, name=name)
    held = list(arguments.positional)
    if last != "Sequential" or (len(held) == 1 and held[0].element is not None):
        held = [element_of(value) for value in held]
    if any(value.kind is Kind.HOST_VALUE and value.items for value in held):
        held = [element_of(v) if v.items else v for v in held]
    return Value(Kind.MODULE, name=name, element=join_all(held) if held else UNKNOWN)


def _on_object(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.Call
) -> Value:
    """Return what a method of something that is neither a tensor nor of the project gives."""
    guard = frame.analysis.guard(name)
    if guard is not None:
        return Value(Kind.HOST_VALUE, constant=(guard,))
    if receiver.kind is Kind.MODULE:
        return _module_method(frame, receiver, name, arguments, node)
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
        return UNKNOWN
    return UNKNOWN


def _module_method(
    frame: Frame, receiver: Value, name: str, arguments: Arguments, node: ast.Call
) -> Value:
    if name in ("register_buffer", "register_parameter") and len(arguments.positional) > 1:
        _register(frame, arguments, node)
        return NONE
    if name in ("forward", "__call__"):
        return _call_module(frame, receiver, arguments, node)
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


def _register(frame: Frame, arguments: Arguments, node: ast.Call) -> None:
    """Note `self.register_buffer("table", tensor)`: it moves with the module, so to the device."""
    key, value = arguments.positional[:2]
    is_own = isinstance(node.func, ast.Attribute) and chain_text(node.func.value) == frame.self_name
    if is_own and key.constant:
        placed = value if value.is_none else Value(Kind.DEVICE_TENSOR, value.dtype, value.rank)
        frame.store(str(key.constant[0]), placed)


def _unknown_callee(frame: Frame, target: Value, arguments: Arguments, node: ast.Call) -> Value:
    if target.name == "@identity" and arguments.positional:
        return arguments.positional[0]
    pass_functions(frame, arguments, node)
    return UNKNOWN


def _call_module(frame: Frame, module: Value, arguments: Arguments, node: ast.AST) -> Value:
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
    name = "__call__" if project.method(ref.index, "__call__") >= 0 else "forward"
    found = analysis.attributes.lookup(frame, ref, name)
    if found is not None and found.refs:
        return call_refs(frame, found, arguments, node)
    for outside in project.outside_bases(ref.index):
        if outside.startswith("torch.nn.") and outside != "torch.nn.Module":
            inner = Value(Kind.MODULE, name=outside, element=target.element)
            return _call_module(frame, inner, arguments, node)
    return UNKNOWN


def _instantiated(frame: Frame, ref: Ref, arguments: Arguments, node: ast.AST) -> Value:
    """Return an instance of a project class; its constructor runs where the call does."""
    analysis = frame.analysis
    instance = Ref(Role.INSTANCE, ref.index)
    if analysis.project.is_module(ref.index):
        element = None
        if any(
            b.rpartition(".")[2] in tables.CONTAINERS
            for b in analysis.project.outside_bases(ref.index)
        ):
            element = (
                join_all([element_of(v) for v in arguments.positional])
                if arguments.positional
                else None
            )
        return Value(Kind.MODULE, refs=(instance,), element=element)
    if frame.captured:
        constructor = analysis.project.method(ref.index, "__init__")
        if constructor >= 0:
            analysis.call(frame, Ref(Role.METHOD, constructor, ref.index), arguments, node)
    return Value(Kind.HOST_VALUE, refs=(instance,))


def _is_super_call(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"
    )
