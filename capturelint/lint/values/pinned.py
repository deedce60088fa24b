"""Which operations leave a tensor of the host in its memory, so that pinned memory stays pinned.

`is_pinned` asks where the data lies (`CUDAHooks::isPinnedPtr` in torch), so that a view of a pinned
tensor, and an array over it, is as pinned as the whole. Of what may or may not copy, such as
`reshape`, nothing is claimed: `Value.pinned` says that a tensor may lie in pinned memory.
"""

from __future__ import annotations

import ast

from capturelint.kind import Value

_VIEWS = frozenset(
    "view view_as narrow select unsqueeze squeeze t transpose permute movedim moveaxis swapaxes "
    "swapdims adjoint unbind split chunk tensor_split split_with_sizes unsafe_split unsafe_chunk "
    "hsplit vsplit dsplit expand expand_as broadcast_to broadcast_tensors meshgrid detach alias "
    "positive diagonal unfold unflatten as_strided view_as_real view_as_complex real imag "
    "resolve_conj resolve_neg atleast_1d atleast_2d atleast_3d numpy cpu".split()
)
# They copy what does not lie as is asked for.
_PERHAPS_VIEWS = frozenset("reshape reshape_as flatten ravel contiguous".split())
# They copy what is of another dtype.
_CONVERSIONS = frozenset("float half double bfloat16 long int short char byte bool".split())


def keeps_memory(receiver: Value, name: str, dtype: str) -> bool:
    """Return whether `receiver.name(...)`, which gives `dtype`, may lie where the receiver does."""
    is_in_place = name.endswith("_") and not name.endswith("__")
    if name in _CONVERSIONS:
        return may_be_same_dtype(receiver.dtype, dtype)
    return is_in_place or name in _VIEWS or name in _PERHAPS_VIEWS


def may_be_same_dtype(one: str, other: str) -> bool:
    """Return whether two dtypes, as far as they are known, may be one."""
    return not one or not other or one == other


def is_view(node: ast.expr, index: Value) -> bool:
    """Return whether `tensor[index]` may be a view: not where a list, a mask or a tensor picks."""
    nodes = node.elts if isinstance(node, ast.Tuple) else [node]
    if any(isinstance(part, ast.List) for part in nodes):
        return False
    values = index.items if isinstance(node, ast.Tuple) and index.items is not None else (index,)
    return not any(_picks(value) for value in values)


def _picks(index: Value) -> bool:
    if not index.is_tensor:
        return False
    return index.dtype == "bool" or index.rank > 0
