"""Calls that wait for the device, and library routines that read their status on the host."""

from __future__ import annotations

from capturelint.operations.operation import SOURCE, Operation, refusing, safe

LIBRARIES: tuple[Operation, ...] = (
    # CL701
    *refusing("CL701", "torch.cuda.synchronize"),
    *refusing("CL701", "torch.cuda.Event.synchronize torch.cuda.Event.query"),
    *refusing("CL701", "torch.cuda.Stream.synchronize torch.cuda.Stream.query"),
    *refusing("CL701", "torch.cuda.Event.elapsed_time", checked=SOURCE),
    *refusing("CL701", "torch.accelerator.synchronize", checked=SOURCE),
    *safe("torch.cuda.Event.record torch.cuda.Stream.wait_stream torch.cuda.Event.wait"),
    *safe("torch.cuda.empty_cache torch.cuda.mem_get_info"),
    # CL801
    *refusing("CL801", "torch.linalg.solve torch.linalg.inv torch.linalg.cholesky"),
    *refusing("CL801", "torch.linalg.svd torch.linalg.pinv torch.linalg.eigh"),
    *refusing("CL801", "torch.matrix_exp torch.linalg.matrix_exp Tensor.matrix_exp"),
    *refusing(
        "CL801",
        "torch.inverse torch.cholesky torch.svd torch.pinverse torch.cholesky_inverse "
        "Tensor.inverse Tensor.cholesky Tensor.svd Tensor.pinverse Tensor.cholesky_inverse "
        "torch.linalg.svdvals torch.linalg.eig torch.linalg.eigvals torch.linalg.eigvalsh "
        "torch.linalg.lu_factor torch.linalg.ldl_factor torch.linalg.tensorinv "
        "torch.linalg.tensorsolve torch.linalg.matrix_rank torch.linalg.cond torch.linalg.lstsq "
        "torch.svd_lowrank torch.pca_lowrank torch.lobpcg",
        checked=SOURCE,
    ),
    *safe(
        "torch.linalg.solve_ex torch.linalg.inv_ex torch.linalg.det torch.linalg.qr "
        "torch.linalg.norm"
    ),
    *safe(
        "torch.linalg.cholesky_ex torch.linalg.lu_factor_ex torch.linalg.slogdet", checked=SOURCE
    ),
    # CL804
    *refusing("CL804", "Tensor.to_sparse torch.nested.nested_tensor torch.nn.functional.ctc_loss"),
    *refusing("CL804", "torch.nn.utils.rnn.pack_padded_sequence"),
    *safe("torch.nested.nested_tensor_from_jagged torch.fft.fft torch.einsum"),
)
