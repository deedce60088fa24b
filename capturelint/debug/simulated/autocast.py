"""Autocast on the simulated device: which operators cast their inputs, and to what.

Torch's own casts ask whether C++ sees CUDA, which it does not here. The lists are those of
`ATen/autocast_mode.h` (torch 2.13); torch's cache of cast weights is left out.
"""
# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.utils import _pytree as pytree

from capturelint.debug.simulated.device import is_simulated

_LOWER = (
    "_convolution.deprecated _convolution conv1d conv2d conv3d conv_tbc conv_transpose1d "
    "conv_transpose2d.input conv_transpose3d.input convolution prelu addmm addmv addr matmul einsum "
    "mm mv linalg_vecdot linear addbmm baddbmm bmm chain_matmul linalg_multi_dot "
    "_thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell "
    "_scaled_dot_product_flash_attention scaled_dot_product_attention"
)
_FLOAT = (
    "acos asin cosh erfinv exp expm1 log log10 log2 log1p reciprocal rsqrt sinh tan "
    "pow.Tensor_Scalar pow.Tensor_Tensor pow.Scalar softplus layer_norm native_layer_norm rms_norm "
    "group_norm frobenius_norm.dim nuclear_norm nuclear_norm.dim cosine_similarity poisson_nll_loss "
    "cosine_embedding_loss nll_loss nll_loss2d hinge_embedding_loss kl_div l1_loss smooth_l1_loss "
    "huber_loss mse_loss margin_ranking_loss multilabel_margin_loss soft_margin_loss "
    "triplet_margin_loss multi_margin_loss binary_cross_entropy_with_logits dist pdist cdist renorm "
    "logsumexp upsample_nearest1d _upsample_nearest_exact1d upsample_nearest2d "
    "_upsample_nearest_exact2d upsample_nearest3d _upsample_nearest_exact3d upsample_linear1d "
    "upsample_bilinear2d _upsample_bilinear2d_aa upsample_trilinear3d upsample_bicubic2d "
    "_upsample_bicubic2d_aa"
)
_FLOAT_RESULT = (
    "prod prod.dim_int softmax.int log_softmax.int cumprod cumsum linalg_vector_norm "
    "linalg_matrix_norm linalg_matrix_norm.str_ord sum sum.dim_IntList"
)
_WIDEST = (
    "addcdiv addcmul atan2 bilinear cross dot vdot grid_sampler index_put tensordot scatter_add "
    "stack cat"
)
# Another overload takes the dtype.
_NORMS = {"norm.Scalar": "ScalarOpt_dtype", "norm.ScalarOpt_dim": "ScalarOpt_dim_dtype"}

_Operator = Callable[..., Any]


@contextmanager
def casting() -> Iterator[None]:
    """Return a context in which `torch.autocast("cuda")` casts tensors of the simulated device."""
    library: Any = torch.library.Library("aten", "IMPL")  # type: ignore[no-untyped-call]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that torch's own casts are replaced
        for name, kernel in _kernels():
            library.impl(name, kernel, "AutocastCUDA", allow_override=True)
    try:
        yield
    finally:
        library._destroy()


def _kernels() -> Iterator[tuple[str, _Operator]]:
    for names, make in (
        (_LOWER, _in_lower_precision),
        (_FLOAT, _in_float),
        (_FLOAT_RESULT, _with_float_result),
        (_WIDEST, _in_widest),
    ):
        for name in names.split():
            operator = _operator(name)
            if operator is not None:
                yield name, _below_autocast(make(operator))
    for name, overload in _NORMS.items():
        yield name, _below_autocast(_with_float_result(_operator(f"norm.{overload}")))


def _operator(name: str) -> Any:
    """Return an overload by its name, or None where this torch has none."""
    packet, _, overload = name.partition(".")
    return getattr(getattr(torch.ops.aten, packet, None), overload or "default", None)


def _below_autocast(kernel: _Operator) -> _Operator:
    keys = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastCUDA)

    def run(*args: Any, **kwargs: Any) -> Any:
        with torch._C._ExcludeDispatchKeyGuard(keys):
            return kernel(*args, **kwargs)

    return run


def _in_lower_precision(operator: _Operator) -> _Operator:
    def run(*args: Any, **kwargs: Any) -> Any:
        return _cast_and_run(operator, args, kwargs, torch.get_autocast_dtype("cuda"))

    return run


def _in_float(operator: _Operator) -> _Operator:
    def run(*args: Any, **kwargs: Any) -> Any:
        return _cast_and_run(operator, args, kwargs, torch.float32)

    return run


def _in_widest(operator: _Operator) -> _Operator:
    def run(*args: Any, **kwargs: Any) -> Any:
        leaves = pytree.tree_leaves((args, kwargs))
        is_float = any(_is_eligible(leaf) and leaf.dtype == torch.float32 for leaf in leaves)
        dtype = torch.float32 if is_float else torch.get_autocast_dtype("cuda")
        return _cast_and_run(operator, args, kwargs, dtype)

    return run


def _with_float_result(operator: _Operator) -> _Operator:
    names = [argument.name for argument in operator._schema.arguments]  # type: ignore[attr-defined]

    def run(*args: Any, **kwargs: Any) -> Any:
        is_given = len(args) > names.index("dtype") or kwargs.get("dtype") is not None
        if _is_eligible(args[0]) and not is_given:
            kwargs["dtype"] = torch.float32
        return operator(*args, **kwargs)

    return run


def _cast_and_run(
    operator: _Operator, args: tuple[Any, ...], kwargs: dict[str, Any], dtype: torch.dtype
) -> Any:
    def cast(value: Any) -> Any:
        return value.to(dtype) if _is_eligible(value) else value

    return operator(*pytree.tree_map(cast, args), **pytree.tree_map(cast, kwargs))


def _is_eligible(value: Any) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and value.is_floating_point()
        and value.dtype != torch.float64
        and is_simulated(value.device)
    )
