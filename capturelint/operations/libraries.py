"""Calls that wait for the device, and library routines that read their status on the host."""

from __future__ import annotations

from capturelint.operations.operation import Operation, refusing, safe

LIBRARIES: tuple[Operation, ...] = (
    # CL701
    *refusing("CL701", "torch.cuda.synchronize"),
    *refusing(
        "CL701",
        "torch.cuda.Event.synchronize torch.cuda.Event.query torch.cuda.Event.elapsed_time",
    ),
    *refusing("CL701", "torch.cuda.Stream.synchronize torch.cuda.Stream.query"),
    *refusing("CL701", "torch.accelerator.synchronize"),
    # `WorkNCCL::wait` synchronizes the stream after a barrier (`ProcessGroupNCCL.cpp`); objects are
    # pickled on the host and their sizes read there (`.to(device)` and `.item()` in
    # `torch/distributed/distributed_c10d.py`).
    *refusing("CL701", "torch.distributed.barrier", "over NCCL", spared_by=("async_op",)),
    *refusing(
        "CL701",
        "torch.distributed.all_gather_object torch.distributed.gather_object "
        "torch.distributed.scatter_object_list",
        "over NCCL",
    ),
    *refusing(
        "CL701",
        "torch.distributed.broadcast_object_list torch.distributed.send_object_list "
        "torch.distributed.recv_object_list",
        "over NCCL",
        spared_by=("device",),
    ),
    *safe("torch.cuda.Event.record torch.cuda.Stream.wait_stream torch.cuda.Event.wait"),
    *safe("torch.cuda.empty_cache torch.cuda.mem_get_info"),
    # CL801
    *refusing("CL801", "torch.linalg.solve torch.linalg.inv torch.linalg.cholesky"),
    *refusing("CL801", "torch.linalg.svd torch.linalg.pinv torch.linalg.eigh torch.matrix_exp"),
    *refusing(
        "CL801",
        "torch.cholesky torch.svd torch.linalg.svdvals torch.linalg.eig torch.linalg.eigvals "
        "torch.linalg.eigvalsh torch.linalg.lu_factor torch.linalg.ldl_factor "
        "torch.linalg.tensorinv torch.linalg.tensorsolve torch.linalg.matrix_rank "
        "torch.linalg.lstsq torch.linalg.matrix_exp torch.lobpcg torch.svd_lowrank "
        "torch.pca_lowrank torch.cov torch.corrcoef torch.inverse torch.pinverse Tensor.inverse "
        "Tensor.pinverse Tensor.cholesky Tensor.svd Tensor.matrix_exp Tensor.cov Tensor.corrcoef",
    ),
    *refusing("CL801", "torch.linalg.cond", "p is None, 2, -2 or `nuc`"),
    *refusing(
        "CL801",
        "torch.linalg.norm torch.linalg.matrix_norm",
        "of a matrix, with ord 2, -2 or `nuc`",
    ),
    *refusing("CL801", "torch.linalg.matrix_power", "a negative power"),
    *safe(
        "torch.linalg.solve_ex torch.linalg.inv_ex torch.linalg.det torch.linalg.qr "
        "torch.linalg.cholesky_ex torch.linalg.lu_factor_ex torch.linalg.slogdet torch.logdet "
        "torch.linalg.lu torch.linalg.lu_solve torch.cholesky_solve torch.cholesky_inverse "
        "torch.linalg.solve_triangular torch.linalg.householder_product torch.geqrf"
    ),
    *safe("torch.linalg.norm torch.linalg.matrix_norm", "of a vector, or the default order"),
    *safe("torch.linalg.matrix_power", "a power of at least zero"),
    # Data-dependent layouts.
    *refusing(
        "CL804",
        "Tensor.to_sparse Tensor.to_sparse_coo Tensor.to_sparse_csr Tensor.to_sparse_csc "
        "Tensor.to_sparse_bsr Tensor.to_sparse_bsc torch.nested.nested_tensor "
        "torch.nested.as_nested_tensor torch.ctc_loss torch.nn.CTCLoss "
        "torch.nn.functional.ctc_loss",
    ),
    *refusing(
        "CL804",
        "torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pack_sequence",
        "enforce_sorted=False: the order is copied to the device",
    ),
    *safe(
        "torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pack_sequence",
        "of sequences in order of their lengths",
    ),
    *refusing("CL804", "torch.prod Tensor.prod", "its backward, in the same captured region"),
    *refusing(
        "CL804",
        "torch.masked_scatter Tensor.masked_scatter Tensor.masked_scatter_",
        "its backward, in the same captured region",
    ),
    *safe("torch.nested.nested_tensor_from_jagged torch.fft.fft torch.einsum"),
)
