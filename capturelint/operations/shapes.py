"""Operations whose result has a shape that depends on values."""

from __future__ import annotations

from capturelint.operations.operation import Operation, refusing, safe

SHAPES: tuple[Operation, ...] = (
    # CL301
    *refusing("CL301", "torch.nonzero Tensor.nonzero"),
    *refusing("CL301", "torch.argwhere Tensor.argwhere"),
    *refusing(
        "CL301", "torch.where", "one argument", spared_by=("input", "other", "self"), spared_from=2
    ),
    *refusing("CL301", "torch.unique Tensor.unique"),
    *refusing("CL301", "torch.unique_consecutive Tensor.unique_consecutive"),
    *refusing("CL301", "torch.masked_select Tensor.masked_select"),
    *refusing("CL301", "torch.bincount Tensor.bincount"),
    *refusing("CL301", "torch.histc", "without a range", spared_by=("min", "max"), spared_from=3),
    *refusing("CL301", "Tensor.histc", "without a range", spared_by=("min", "max"), spared_from=2),
    *refusing(
        "CL301",
        "torch.repeat_interleave Tensor.repeat_interleave",
        "repeats is a device tensor",
        spared_by=("output_size",),
    ),
    *refusing(
        "CL301",
        "torch.nn.functional.one_hot",
        "without the number of classes",
        spared_by=("num_classes",),
        spared_from=2,
    ),
    *refusing("CL301", "torch.combinations"),
    # FBGEMM's sources for CUDA: without the total it is read from the offsets (`.item`).
    *refusing(
        "CL301",
        "torch.ops.fbgemm.permute_1D_sparse_data torch.ops.fbgemm.permute_2D_sparse_data",
        "without the total length",
        spared_by=("permuted_lengths_sum",),
        spared_from=5,
    ),
    *refusing(
        "CL301",
        "torch.ops.fbgemm.keyed_jagged_index_select_dim1",
        "without the total length",
        spared_by=("selected_lengths_sum",),
        spared_from=7,
    ),
    *safe("torch.nonzero_static Tensor.nonzero_static torch.count_nonzero"),
    *safe("torch.repeat_interleave Tensor.repeat_interleave", "repeats is a number"),
    *safe("torch.repeat_interleave Tensor.repeat_interleave", "with output_size"),
    *safe("torch.nn.functional.one_hot", "with the number of classes"),
    *safe("torch.histc Tensor.histc", "with a range"),
    *safe("torch.where", "three arguments"),
    *safe(
        "torch.multinomial torch.randperm torch.median torch.mode torch.quantile torch.isin "
        "torch.searchsorted torch.topk torch.sort torch.kthvalue torch.cumsum torch.cdist torch.bucketize "
        "torch.cartesian_prod torch.tril_indices torch.block_diag torch.tensor_split"
    ),
    *safe("Tensor.masked_scatter Tensor.masked_scatter_ torch.masked_scatter", "forward alone"),
    # CL302
    *refusing("CL302", "Tensor.__getitem__", "a boolean device tensor"),
    *refusing(
        "CL302",
        "Tensor.__setitem__",
        "a boolean device tensor, and a tensor of at least one dimension as value",
    ),
    *refusing("CL302", "Tensor.__setitem__", "`x[mask] += v`: a boolean device tensor"),
    *safe("Tensor.__setitem__", "a boolean device tensor, alone or among slices, and a number"),
)
