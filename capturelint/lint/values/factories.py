"""Where a new tensor is made, of which dtype and rank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from capturelint.kind import UNKNOWN, Kind, Pinned, Value


def made(name: str, args: Sequence[Value], keywords: Keywords, default: Kind) -> Value:
    """Return what the factory `name`, such as `zeros`, makes; without `device=`, at `default`."""
    device = keywords.get("device")
    kind = default if device is None or device.is_none else place_of(device)
    dtype = dtype_of(keywords["dtype"]) if "dtype" in keywords else _default_dtype(name, args)
    rank = -1
    if name in ("arange", "linspace", "randperm", "range", "logspace"):
        rank = 1
    elif name in ("eye", "tril_indices", "triu_indices"):
        rank = 2
    elif name == "scalar_tensor":
        rank = 0
    elif name in ("tensor", "as_tensor", "asarray"):
        rank = _literal_rank(args[0]) if args else -1
    elif args:
        rank = _size_rank(args, takes_value=name == "full")
    return Value(kind, dtype, rank, pinned=_pinned_by(keywords))


def made_like(args: Sequence[Value], keywords: Keywords) -> Value:
    """Return what `zeros_like` and its kind make: a tensor where the first argument is."""
    device = keywords.get("device")
    kind = args[0].kind if args[0].is_tensor else Kind.DEVICE_TENSOR
    if device is not None and not device.is_none:
        kind = place_of(device)
    dtype = dtype_of(keywords["dtype"]) if "dtype" in keywords else args[0].dtype
    return Value(kind, dtype, args[0].rank, pinned=_pinned_by(keywords))


def _default_dtype(name: str, args: Sequence[Value]) -> str:
    if name in ("arange", "range"):
        is_float = any(a.constant and isinstance(a.constant[0], float) for a in args)
        return "float" if is_float else "int"
    if name in ("randint", "randperm", "tril_indices", "triu_indices"):
        return "int"
    if name in ("tensor", "as_tensor", "full", "asarray"):
        value = args[1] if name == "full" and len(args) > 1 else args[0] if args else UNKNOWN
        while value.items:
            value = value.items[0]
        constant = value.constant[0] if value.constant else None
        kinds = {bool: "bool", int: "int", float: "float"}
        return kinds.get(type(constant), "int" if value.kind is Kind.SHAPE else "")
    return "float" if name in ("rand", "randn", "linspace", "eye", "zeros", "ones", "empty") else ""


def _literal_rank(value: Value) -> int:
    if value.items is not None:
        inner = _literal_rank(value.items[0]) if value.items else 0
        return inner + 1 if inner >= 0 else -1
    if value.constant or (value.kind is Kind.SHAPE and value.rank == 0):
        return 0
    return -1


def _size_rank(args: Sequence[Value], *, takes_value: bool) -> int:
    first = args[0]
    if first.items is not None:
        return len(first.items)
    if first.kind is Kind.SHAPE and first.rank != 0:
        return -1
    if takes_value or first.kind is Kind.UNKNOWN:
        return -1
    is_number = bool(first.constant) or first.kind is Kind.SHAPE or len(args) > 1
    return len(args) if is_number else -1


def _pinned_by(keywords: Keywords) -> Pinned:
    asked = keywords.get("pin_memory")
    is_plain = asked is None or asked.constant in ((False,), (None,))
    return Pinned.NO if is_plain else Pinned.YES


def dtype_of(value: Value) -> str:
    """Return "bool", "int" or "float" for the value of a dtype such as `torch.long`, else ""."""
    prefix, _, last = value.name.rpartition(".")
    if prefix == "torch" or prefix == "builtins":
        return _DTYPES.get(last, "")
    return ""


def is_dtype(value: Value) -> bool:
    """Return whether a value is a dtype object."""
    return value.name.endswith(".dtype") or bool(dtype_of(value))


def place_of(value: Value) -> Kind:
    """Return where a `device=` argument puts a tensor: unknown devices are the GPU."""
    if value.constant:
        text = value.constant[0]
        if isinstance(text, str) and text.partition(":")[0] in ("cpu", "meta"):
            return Kind.HOST_TENSOR
    return Kind.DEVICE_TENSOR


def supposed(value: Value) -> Value:
    """Return what is a tensor, or holds some, of which the place is only supposed."""
    if value.is_tensor:
        return value._replace(weak=True)
    return value if value.element is None else value._replace(element=supposed(value.element))


_DTYPES = {
    "bool": "bool",
    **dict.fromkeys("long int int64 int32 int16 int8 uint8 short uint16 uint32".split(), "int"),
    **dict.fromkeys("float half float16 float32 float64 bfloat16 double".split(), "float"),
}


Keywords = Mapping[str, Value]
