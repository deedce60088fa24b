"""What functions and classes from outside the project give."""

from __future__ import annotations

import ast

from capturelint.kind import HOST, UNKNOWN, Kind, Role, Value
from capturelint.lint.values import builtin_calls, factories, tables, tensors
from capturelint.lint.values.arguments import NO_ARGUMENTS, Arguments
from capturelint.lint.values.follow import call_refs, pass_functions
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import GRAPH_CONTEXT, element_of, join_all
from capturelint.lint.values.lookup import OFF, is_debug_flag
from capturelint.lint.values.notes import note_operands
from capturelint.names import GRAPH_MODES

_HOST_PACKAGES = frozenset("numpy np math os time random json re".split())


_CALLERS = frozenset("checkpoint map apply tree_map vmap cond while_loop filter submit".split())


_TRANSPARENT = frozenset(
    "torch.compile torch.jit.script torch.no_grad torch.inference_mode torch.compiler.allow_in_graph "
    "torch.vmap torch.func.vmap torch._dynamo.optimize functools.wraps torch.enable_grad "
    "torch.jit.script_if_tracing copy.copy copy.deepcopy typing.cast_ torch.compiler.assume_constant_result".split()
)


def call_outside(frame: Frame, name: str, last: str, arguments: Arguments, node: ast.Call) -> Value:
    """Return what something from outside the project gives when called."""
    guard = frame.analysis.surroundings.guard(name)
    if guard is not None:
        return guard
    special = _special(name, arguments)
    if special is not None:
        return special
    keywords = dict(arguments.keywords)
    if name.startswith("builtins."):
        return builtin_calls.evaluate(frame, name[9:], arguments.positional, keywords, node)
    if name in _TRANSPARENT:
        return _wrapped(frame, name, arguments, keywords)
    if name.startswith(("functools.partial", "torch.compiler.", "torch._dynamo.")):
        return _partial(frame, arguments)
    if name.endswith("make_graphed_callables"):
        given = [keywords.get("callables", UNKNOWN), keywords.get("sample_args", UNKNOWN)]
        given[: len(arguments.positional)] = arguments.positional[:2]
        frame.analysis.asked.graph(frame, given[0], given[1])
        return given[0]
    if last in _CALLERS or name.endswith(".checkpoint"):
        return _called_for_us(frame, name, arguments, node)
    pass_functions(frame, arguments, node)
    if name.startswith(("torch.", "torchvision.ops.")):
        return _of_torch(frame, name, arguments, keywords)
    if name.startswith("einops.") and arguments.positional:
        first = arguments.positional[0]
        return Value(first.kind, first.dtype) if first.is_tensor else UNKNOWN
    if name.startswith(("itertools.", "collections.")):
        return builtin_calls.evaluate(frame, last, arguments.positional, keywords, node)
    return HOST if name.partition(".")[0] in _HOST_PACKAGES else UNKNOWN


def _special(name: str, arguments: Arguments) -> Value | None:
    """Return what a few functions give that stand for more than their result."""
    if _asks_debug_flag(name, arguments):
        return OFF
    if name in ("torch.cuda.graph", "torch.cuda.graphs.graph"):
        return GRAPH_CONTEXT
    if name == "torch.is_tensor" and arguments.positional:
        return builtin_calls.is_tensor(arguments.positional[0])
    return None


def _asks_debug_flag(name: str, arguments: Arguments) -> bool:
    """Return whether a call reads an environment variable that turns on checks or traces."""
    if "env" not in name.rpartition(".")[2] and not name.startswith("os.environ."):
        return False
    constant = arguments.positional[0].constant if arguments.positional else ()
    return bool(constant) and is_debug_flag(str(constant[0]))


def _of_torch(frame: Frame, name: str, arguments: Arguments, keywords: dict[str, Value]) -> Value:
    """Return what a function or class of torch gives when called."""
    last = name.rpartition(".")[2]
    if name in ("torch.nn.Parameter", "torch.nn.Buffer"):
        dtype = arguments.positional[0].dtype if arguments.positional else ""
        return Value(Kind.DEVICE_TENSOR, dtype)
    if name.startswith("torch.nn.") and name.count(".") >= 2 and last[:1].isupper():
        return _made_module(name, arguments)
    if name.startswith(("torch.ops.", "torch.classes.")):
        return UNKNOWN
    if name.startswith("torch.optim.") and name.count(".") == 2 and last[:1].isupper():
        return _made_optimizer(last, arguments, keywords)
    if last == "GradScaler" and name.startswith(("torch.amp.", "torch.cuda.amp.")):
        return _made_scaler(name, arguments, keywords)
    if arguments.is_open and last in tables.FACTORIES and "device" not in keywords:
        # `**options` may hold the device.
        return UNKNOWN
    note_operands(frame, arguments.positional)
    place = Kind.HOST_TENSOR
    if not frame.captured:
        place = frame.analysis.surroundings.place_before(frame.function)
    rest = (arguments.rest or UNKNOWN) if arguments.is_open else None
    found = tensors.function(name, arguments.positional, keywords, place, rest=rest)
    if found.is_device_tensor and _is_supposed_place(frame, keywords.get("device")):
        return found._replace(weak=True)
    is_plain = found.kind is Kind.HOST_VALUE and not found.name
    if name == "torch.Generator" and not _is_on_device([*arguments.positional, *keywords.values()]):
        return found
    return found._replace(name=_made(name)) if is_plain else found


def _is_on_device(devices: list[Value]) -> bool:
    return bool(devices) and factories.place_of(devices[0]) is Kind.DEVICE_TENSOR


def _is_supposed_place(frame: Frame, device: Value | None) -> bool:
    """Return whether it is not known where a tensor is made; captured code makes it on the device."""
    is_vague = device is not None and device.weak
    return is_vague and frame.analysis.surroundings.is_extra(frame.function)


def _made_optimizer(last: str, arguments: Arguments, keywords: dict[str, Value]) -> Value:
    """Return an optimizer; one that is made neither capturable nor fused carries that in its name."""
    if arguments.is_open:
        return UNKNOWN
    if last in tables.CAPTURABLE_OPTIMIZERS and _is_off(keywords.get("capturable")):
        return Value(Kind.HOST_VALUE, name=f"@optimizer:{last}")
    return Value(name=f"@unfused:{last}") if _is_off(keywords.get("fused")) else UNKNOWN


def _made_scaler(name: str, arguments: Arguments, keywords: dict[str, Value]) -> Value:
    """Return a scaler of gradients; one that is in use, on the device, carries that in its name."""
    given = [*arguments.positional[:1], *(keywords[w] for w in ("device",) if w in keywords)]
    is_elsewhere = name.startswith("torch.amp.") and any(v.constant != ("cuda",) for v in given)
    enabled = keywords.get("enabled", Value(constant=(True,)))
    is_sure = not arguments.is_open and not is_elsewhere and enabled.constant == (True,)
    return HOST._replace(name="@scaler") if is_sure else HOST


def _is_off(asked: Value | None) -> bool:
    return asked is None or asked.constant in ((False,), (None,))


def _made(name: str) -> str:
    """Return the class name that an object made by `torch.cuda.Event(...)` and the like carries."""
    last = name.rpartition(".")[2]
    if last in ("current_stream", "default_stream", "ExternalStream"):
        return "torch.cuda.Stream"
    return name if last in ("Event", "Stream", "Generator") else ""


def _wrapped(frame: Frame, name: str, arguments: Arguments, keywords: dict[str, Value]) -> Value:
    """Return the function that a wrapper such as `torch.compile(f)` gives back."""
    modes = [keywords[word].constant for word in ("mode", "backend") if word in keywords]
    is_graph = name == "torch.compile" and any(mode and mode[0] in GRAPH_MODES for mode in modes)
    if is_graph and arguments.positional:
        frame.analysis.asked.graph(frame, arguments.positional[0])
    if arguments.positional:
        return arguments.positional[0]
    return Value(Kind.HOST_VALUE, name="@identity")


def _partial(frame: Frame, arguments: Arguments) -> Value:
    if not arguments.positional:
        return UNKNOWN
    first = arguments.positional[0]
    if not first.refs:
        return first
    bound = Arguments(arguments.positional[1:], arguments.keywords, is_open=True)
    for ref in first.refs:
        if ref.role in (Role.FUNCTION, Role.METHOD):
            frame.analysis.asked.bind(frame, ref, bound)
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
    held = [*arguments.positional, *([] if arguments.rest is None else [arguments.rest])]
    if last != "Sequential" or (len(held) == 1 and held[0].kind is Kind.HOST_VALUE):
        held = [element_of(value) for value in held]
    if not held:
        return Value(Kind.MODULE, name=name)
    element = join_all(held)
    if element.kind is Kind.MODULE and not element.name and not element.refs:
        # Layers of several classes of torch: each gives a tensor.
        element = element._replace(name="torch.nn.Module.of_several")
    return Value(Kind.MODULE, name=name, element=element)
