"""Which operations work through a library of CUDA, whose handle cannot be made while capturing."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.operations.dispatched.row import H200, SOURCE
from capturelint.operations.messages import NO_BLAS, NO_DNN, NO_FFT, NO_SOLVER


@dataclass(frozen=True, slots=True)
class Handle:
    """One operation that needs a library's handle, in one form of its arguments.

    `op`, `form`, `checked`: as in `Dispatched`. `library`: "" where this form needs none; of several
    rows for one operation the first whose form fits decides. `message`: what it says when the handle
    is first needed while capturing.
    """

    op: str
    form: str
    library: str
    message: str
    checked: str = H200


_MESSAGES = {"cuBLAS": NO_BLAS, "cuDNN": NO_DNN, "cuSOLVER": NO_SOLVER, "cuFFT": NO_FFT}


def _through(library: str, ops: str, form: str = "", *, checked: str = H200) -> tuple[Handle, ...]:
    message = _MESSAGES.get(library, "")
    return tuple(Handle(f"aten::{op}", form, library, message, checked) for op in ops.split())


_PRODUCTS = "mm addmm bmm baddbmm addbmm mv addmv dot vdot _int_mm _scaled_mm"
_SOLVERS = "linalg_inv_ex _linalg_det _linalg_slogdet _linalg_solve_ex linalg_qr"

HANDLES: tuple[Handle, ...] = (
    *_through("", f"{_PRODUCTS} {_SOLVERS}", "empty matrices"),
    *_through("cuBLAS", _PRODUCTS),
    *_through("cuBLAS", "_addmm_activation linear _transformer_encoder_layer_fwd", checked=SOURCE),
    *_through("cuBLAS", "_native_multi_head_attention"),
    *_through(
        "cuBLAS",
        "_trilinear _euclidean_dist linalg_solve_triangular triangular_solve linalg_lu_solve affine_grid_generator",
    ),
    # Few rows are compared pair by pair, many by a product.
    *_through("cuBLAS", "_cdist_forward", "more than 25 rows, the Euclidean distance"),
    # One matrix goes to the solver, several to a routine of cuBLAS.
    *_through("cuBLAS", _SOLVERS, "several matrices"),
    *_through("cuBLAS", "linalg_lu_factor_ex", "several matrices"),
    *_through("cuSOLVER", f"{_SOLVERS} linalg_lu_factor_ex"),
    *_through(
        "cuSOLVER",
        "linalg_cholesky_ex linalg_householder_product geqrf ormqr cholesky_solve cholesky_inverse",
    ),
    *_through("cuDNN", "convolution convolution_backward"),
    *_through("cuDNN", "convolution_overrideable", checked=SOURCE),
    *_through(
        "cuDNN",
        "native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training",
        "at least three dimensions, as cuDNN takes them",
    ),
    *_through("cuFFT", "_fft_r2c _fft_c2r _fft_c2c"),
)

# Composed of many operations where there is no GPU, one kernel of a library or of torch on it.
FUSED: tuple[Handle, ...] = (
    *_through("cuDNN", "lstm gru rnn_tanh rnn_relu"),
    *_through("cuDNN", "scaled_dot_product_attention", "attention as cuDNN takes it"),
    *_through("", "scaled_dot_product_attention", "attention as torch fuses it"),
)
