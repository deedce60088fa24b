"""What an attribute, a method or a torch function gives, from what it is applied to."""

from __future__ import annotations

from collections.abc import Sequence

from capturelint.kind import (
    HOST,
    HOST_TENSOR,
    SHAPE,
    UNKNOWN,
    Kind,
    Pinned,
    Value,
)
from capturelint.lint.values import tables
from capturelint.lint.values.converted import converted, moved
from capturelint.lint.values.factories import (
    Keywords,
    dtype_of,
    made,
    made_like,
    supposed,
)
from capturelint.lint.values.join import element_of, join_all, sequence
from capturelint.lint.values.pinned import keeps_memory

DEVICE_OBJECT = Value(Kind.HOST_VALUE, name="@device")
SUPPOSED_DEVICE = DEVICE_OBJECT._replace(weak=True)
CPU_OBJECT = Value(Kind.HOST_VALUE, name="@device", constant=("cpu",))


def attribute(receiver: Value, name: str) -> Value:
    """Return `receiver.name` of a tensor, or of a value that is not known."""
    if name == "shape":
        return SHAPE if receiver.rank < 0 else _shape(receiver.rank)
    if name == "device":
        if receiver.kind is Kind.HOST_TENSOR:
            return CPU_OBJECT
        return SUPPOSED_DEVICE if receiver.weak else DEVICE_OBJECT
    if receiver.kind is Kind.UNKNOWN:
        return HOST if name in ("dtype", "ndim") else UNKNOWN
    if name in ("is_cuda", "is_cpu", "is_meta", "is_mps", "is_xpu", "is_npu", "is_hpu"):
        place = "is_cuda" if receiver.kind is Kind.DEVICE_TENSOR else "is_cpu"
        return Value(Kind.HOST_VALUE, constant=(name == place,))
    if name in tables.HOST_ATTRIBUTES:
        return Value(Kind.HOST_VALUE, name="@dtype.dtype") if name == "dtype" else HOST
    if name in tables.TENSOR_ATTRIBUTES:
        is_grad = name == "grad"
        pinned = Pinned.NO if is_grad else receiver.pinned
        return Value(receiver.kind, receiver.dtype, receiver.rank, pinned=pinned, optional=is_grad)
    return UNKNOWN


def method(receiver: Value, name: str, args: Sequence[Value], keywords: Keywords) -> Value:
    """Return `receiver.name(...)` of a tensor receiver."""
    if receiver.weak:
        if name not in tables.TENSOR_MEMBERS:
            return UNKNOWN
        found = method(receiver._replace(weak=False), name, args, keywords)
        return found._replace(weak=True) if found.is_tensor else found
    if name in tables.SHAPE_METHODS:
        has_no_argument = not args and not keywords
        return (
            SHAPE if name in ("size", "stride") and has_no_argument else Value(Kind.SHAPE, "int", 0)
        )
    if name in tables.READ_METHODS:
        return HOST._replace(pinned=receiver.pinned) if name == "numpy" else HOST
    if name in tables.HOST_METHODS:
        return HOST
    if name == "cpu":
        return moved(receiver, Kind.HOST_TENSOR, receiver.dtype)
    if name == "cuda":
        return moved(receiver, Kind.DEVICE_TENSOR, receiver.dtype)
    if name == "pin_memory":
        return Value(receiver.kind, receiver.dtype, receiver.rank, pinned=Pinned.YES)
    if name == "type_as" and args and args[0].is_tensor:
        return moved(receiver, args[0].kind, args[0].dtype)
    if name in ("to", "type"):
        return converted(receiver, args, keywords)
    if name in tables.NEW_FACTORIES:
        return made(name.removeprefix("new_"), args, keywords, receiver.kind)
    return _computed(receiver, name, args, keywords)


def function(
    name: str,
    args: Sequence[Value],
    keywords: Keywords,
    default: Kind,
    *,
    rest: Value | None = None,
) -> Value:
    """Return what the torch function with dotted `name` gives; tensors are made at `default`.

    `rest` is what each of `*args` is that the call passes too.
    """
    last = name.rpartition(".")[2]
    if name == "torch.device":
        constant = args[0].constant if args else ()
        return Value(Kind.HOST_VALUE, name="@device", constant=constant)
    if name in ("torch.from_numpy", "torch.frombuffer", "torch.from_file"):
        return HOST_TENSOR._replace(pinned=args[0].pinned if args else Pinned.NO)
    if name in tables.HOST_FUNCTIONS:
        return HOST
    if last in tables.LEGACY_TENSORS and name == f"torch.{last}":
        return Value(default, tables.LEGACY_TENSORS[last])
    if (
        name in ("torch.as_tensor", "torch.asarray")
        and args
        and args[0].is_tensor
        and "device" not in keywords
    ):
        return args[0]
    if name.startswith("torch.") and name.count(".") == 1 and last in tables.FACTORIES:
        return made(last, args, keywords, default)
    if last in tables.LIKE_FACTORIES and args:
        return made_like(args, keywords)
    if name.startswith(tables.HOST_PREFIXES):
        return UNKNOWN if name.startswith("torch.utils.") else HOST
    if last[:1].isupper() and not last.endswith("Tensor"):
        return UNKNOWN
    given = [*args] if rest is None else [*args, rest]
    tensors = [arg for arg in _flat([*given, *keywords.values()]) if arg.is_tensor]
    first = _where_they_are(tensors)
    if first is None:
        is_open = any(arg.kind is Kind.UNKNOWN for arg in _flat(given))
        first = Value(Kind.DEVICE_TENSOR, weak=True) if is_open else Value(default)
    found = _of_operands(
        first, name, args, keywords, dtype=join_all(tensors).dtype if tensors else ""
    )
    if "out" in keywords and found.is_tensor:
        found = found._replace(pinned=keywords["out"].pinned)
    return supposed(found) if first.weak else found


def _of_operands(
    first: Value, name: str, args: Sequence[Value], keywords: Keywords, *, dtype: str
) -> Value:
    """Return what a function of tensors gives, when `first` is where they are."""
    last = name.rpartition(".")[2]
    if name in ("torch.cat", "torch.stack", "torch.concat", "torch.hstack", "torch.vstack"):
        return Value(first.kind, dtype, -1)
    if last in ("embedding", "linear"):
        return Value(first.kind, "float")
    if last == "where" and len(args) == 1:
        return sequence(None, Value(first.kind, "int", 1))
    if last == "where" and len(args) == 3:
        return Value(
            first.kind, args[1].dtype if args[1].dtype == args[2].dtype else "", args[0].rank
        )
    return _computed(first, last, args[1:], keywords)


def _computed(receiver: Value, name: str, args: Sequence[Value], keywords: Keywords) -> Value:
    """Return the result of an ordinary operation: on the receiver's side, dtype and rank by name."""
    kind = receiver.kind
    if kind is Kind.HOST_TENSOR and any(a.is_device_tensor for a in (*args, *keywords.values())):
        kind = Kind.DEVICE_TENSOR
    dtype = _result_dtype(receiver, name)
    pinned = receiver.pinned if keeps_memory(receiver, name, dtype) else Pinned.NO
    has_dim = "dim" in keywords or "axis" in keywords or bool(args)
    if name in tables.REDUCTIONS and not has_dim:
        keeps = name in ("sum", "max", "min", "prod", "amax", "amin", "median")
        if "dtype" in keywords:
            return Value(kind, dtype_of(keywords["dtype"]), 0)
        if receiver.dtype == "bool" and name in ("sum", "prod"):
            # Truths are counted.
            return Value(kind, "int", 0)
        return Value(kind, dtype or (receiver.dtype if keeps else ""), 0)
    second_is_tensor = bool(args) and args[0].is_tensor
    is_pair = name in tables.ALWAYS_PAIRS or (name in tables.PAIR_METHODS and has_dim)
    if is_pair and not second_is_tensor:
        return sequence((Value(kind, receiver.dtype), Value(kind, "int")))
    if name in tables.LIST_METHODS:
        rank = receiver.rank - 1 if name == "unbind" and receiver.rank > 0 else receiver.rank
        rank = rank if name != "meshgrid" else -1
        return sequence(None, Value(kind, receiver.dtype, rank, pinned=pinned))
    if name in ("unique", "unique_consecutive", "nonzero") and keywords:
        return Value(Kind.UNKNOWN)
    rank = _result_rank(receiver, name, args)
    if name in ("sum", "cumsum", "prod") and dtype == "" and receiver.dtype == "bool":
        dtype = "int"
    explicit = keywords.get("dtype")
    if explicit is not None:
        dtype = dtype_of(explicit)
    return Value(kind, dtype, rank, pinned=pinned)


def _result_dtype(receiver: Value, name: str) -> str:
    if name in tables.BOOL_METHODS:
        return "bool"
    if name in tables.INT_METHODS:
        return "int"
    if name in tables.FLOAT_METHODS:
        return "float"
    if name in tables.SAME_DTYPE:
        return "" if receiver.dtype == "bool" and name in ("sum", "cumsum") else receiver.dtype
    return ""


def _result_rank(receiver: Value, name: str, args: Sequence[Value]) -> int:
    if name in tables.SAME_RANK and not any(a.kind is Kind.DEVICE_TENSOR for a in args):
        return receiver.rank
    if name in ("flatten", "ravel") and not args:
        return 1
    if name in ("view", "reshape") and args:
        if any(a.kind is Kind.UNKNOWN or a.items is not None or a.refs for a in args):
            items = args[0].items
            return len(items) if items is not None else -1
        is_shape = args[0].kind is Kind.SHAPE and args[0].rank != 0
        return -1 if len(args) == 1 and (is_shape or not args[0].constant) else len(args)
    if name == "unsqueeze" and receiver.rank >= 0:
        return receiver.rank + 1
    if name in ("nonzero", "argwhere"):
        return 2
    if name in ("bincount", "masked_select", "unique"):
        return 1
    return -1


def _shape(rank: int) -> Value:
    return Value(Kind.SHAPE, "int", items=tuple(Value(Kind.SHAPE, "int", 0) for _ in range(rank)))


def _flat(values: Sequence[Value]) -> list[Value]:
    flat: list[Value] = []
    for value in values:
        if value.kind is Kind.HOST_VALUE and (value.items or value.element is not None):
            flat.append(element_of(value))
        else:
            flat.append(value)
    return flat


def _where_they_are(tensors: Sequence[Value]) -> Value | None:
    """Return the first device tensor, else the first host tensor, else None."""
    for tensor in tensors:
        if tensor.is_device_tensor:
            return tensor
    return tensors[0] if tensors else None
