"""What the words for forms in the dispatcher's table mean: predicates over the arguments."""

# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks
from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from capturelint.debug.dispatched import attention_forms, host_copies, index_forms
from capturelint.debug.dispatched.arguments import Arguments, is_on_device, is_on_host

_LONG_ROW = 2048
_CDIST_BY_PRODUCT = 25
_CUDNN_BATCH = 880_801


def _has_device(*names: str) -> Callable[[Arguments], bool]:
    def has(arguments: Arguments) -> bool:
        return any(is_on_device(arguments[name]) for name in names)

    return has


def _has_host(*names: str) -> Callable[[Arguments], bool]:
    def has(arguments: Arguments) -> bool:
        return any(is_on_host(arguments[name]) for name in names)

    return has


def _is_given(name: str) -> Callable[[Arguments], bool]:
    def is_given(arguments: Arguments) -> bool:
        return arguments[name] is not None

    return is_given


def _matrix(arguments: Arguments) -> torch.Tensor:
    """Return the first tensor of at least two dimensions, or the first of all."""
    tensors = arguments.tensors()
    return next((tensor for tensor in tensors if tensor.dim() > 1), tensors[0])


def _is_empty(arguments: Arguments) -> bool:
    return any(tensor.numel() == 0 for tensor in arguments.tensors())


def _has_several(arguments: Arguments) -> bool:
    matrix = _matrix(arguments)
    return matrix.dim() > 2 and matrix.shape[:-2].numel() > 1


def _is_not_square(arguments: Arguments) -> bool:
    rows, columns = _matrix(arguments).shape[-2:]
    return rows != columns


def _has_one_element(arguments: Arguments) -> bool:
    return _matrix(arguments).shape[-2:].numel() == 1


def _is_alike(arguments: Arguments) -> bool:
    first: torch.Tensor = arguments["self"]
    second: torch.Tensor = arguments["other"]
    if not is_on_device(first) or not is_on_device(second):
        return False
    if first.shape != second.shape:
        return True
    return first.data_ptr() == second.data_ptr() and first.stride() == second.stride()


def _has_long_rows(arguments: Arguments) -> bool:
    tensor: torch.Tensor = arguments["self"]
    if tensor.dim() == 0:
        return False
    return bool(tensor.shape[arguments["dim"]] > _LONG_ROW)


def _is_unchecked(arguments: Arguments) -> bool:
    return bool(arguments["unsafe"]) or arguments["lengths"] is None


def _has_sorter(arguments: Arguments) -> bool:
    sorter = arguments["sorter"]
    return sorter is not None and sorter.numel() > 0


def _has_no_range(arguments: Arguments) -> bool:
    return bool(arguments["min"] == arguments["max"])


def _has_many(arguments: Arguments) -> bool:
    """Return whether `isin` sorts instead of comparing, as torch decides it."""
    tested, elements = arguments["test_elements"], arguments["elements"]
    if arguments["assume_unique"] or not isinstance(tested, torch.Tensor):
        return False
    amount = elements.numel() if isinstance(elements, torch.Tensor) else 1
    return tested.numel() >= int(10.0 * amount**0.145)


def _is_in_backward_of_product(_arguments: Arguments) -> bool:
    if torch._C._current_graph_task_id() == -1:
        return False
    node = str(torch._C._current_autograd_node().name())
    return node.startswith(("ProdBackward", "CumprodBackward"))


def _is_grouped_on_device(arguments: Arguments) -> bool:
    return arguments["offs"] is None or arguments["self"].dtype == torch.bfloat16


def _is_by_product(arguments: Arguments) -> bool:
    first, second = arguments["x1"], arguments["x2"]
    rows = max(first.shape[-2], second.shape[-2])
    mode = arguments["compute_mode"]
    return arguments["p"] == 2 and (mode == 1 or (not mode and rows > _CDIST_BY_PRODUCT))


def _is_for_cudnn(arguments: Arguments) -> bool:
    """Return whether torch gives a batch normalisation to cuDNN."""
    tensor, weight = arguments["input"], arguments["weight"]
    if weight is None or arguments["bias"] is None or tensor.dim() < 3:
        return False
    if torch.bfloat16 in (tensor.dtype, weight.dtype) or tensor.shape[0] > _CUDNN_BATCH:
        return False
    return bool(arguments["training"]) or tensor.shape[0] <= 65_535


FORMS: Mapping[str, Callable[[Arguments], bool]] = {
    "": lambda _arguments: True,
    **attention_forms.FORMS,
    **host_copies.FORMS,
    **index_forms.FORMS,
    "the same memory, or other sizes": _is_alike,
    "a device value": _has_device("value"),
    "a device bound": _has_device("start", "end"),
    "a sorter": _has_sorter,
    "rows of more than 2048": _has_long_rows,
    "unchecked lengths": _is_unchecked,
    "a host value": _has_host("self", "other", "p"),
    "bfloat16, or no offsets": _is_grouped_on_device,
    "an output size": _is_given("output_size"),
    "no range": _has_no_range,
    "many elements": _has_many,
    "the backward of a product": _is_in_backward_of_product,
    "empty matrices": _is_empty,
    "several matrices": _has_several,
    "matrices not square": _is_not_square,
    "matrices of one element": _has_one_element,
    "hermitian": lambda arguments: bool(arguments["hermitian"]),
    "more than 25 rows, the Euclidean distance": _is_by_product,
    "at least three dimensions, as cuDNN takes them": _is_for_cudnn,
}
