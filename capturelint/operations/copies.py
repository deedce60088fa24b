"""Operations that bring host data to the device while a graph is being captured."""

from __future__ import annotations

from capturelint.operations.operation import Operation, refusing, safe, stale

# `x[...] = number` moves the number through host memory. From 2.14 it is filled in on the device:
# https://github.com/pytorch/pytorch/pull/189105 and https://github.com/pytorch/pytorch/pull/188330
_NUMBER_FORMS = ">=2.6,<2.14"
_NUMBER_FILLED = ">=2.14"
# Pinned memory that is made during capture belongs to the graph from 2.11 on:
# https://github.com/pytorch/pytorch/pull/167507
_RECYCLED = ">=2.6,<2.11"
_KEPT = ">=2.11"

COPIES: tuple[Operation, ...] = (
    # CL201: a tensor made of Python values, on the device.
    *refusing(
        "CL201", "torch.tensor torch.as_tensor torch.asarray", "Python values, with a device target"
    ),
    *refusing("CL201", "torch.tensor", "a list of 0-d device tensors: each is read on the host"),
    *refusing("CL201", "Tensor.new_tensor", "Python values, on a device tensor"),
    *refusing("", "torch.cuda.FloatTensor", "Python values"),
    *safe("torch.tensor torch.as_tensor torch.asarray Tensor.new_tensor", "a device tensor"),
    *safe("torch.tensor", "an empty literal"),
    *safe("torch.tensor", "without a device: it stays on the host"),
    *safe("torch.stack", "a list of 0-d device tensors"),
    *safe("torch.full torch.full_like torch.scalar_tensor Tensor.new_full", "a number as value"),
    *safe("torch.zeros torch.ones torch.arange torch.linspace torch.eye torch.zeros_like"),
    # CL202: unpinned host memory moved to the device.
    *refusing("CL202", "Tensor.to", "an unpinned tensor on the host, non_blocking or not"),
    *refusing("CL202", "Tensor.to", "a pinned tensor on the host, without non_blocking=True"),
    *refusing("CL202", "Tensor.cuda", "a tensor on the host, non_blocking or not"),
    *refusing("CL202", "Tensor.copy_", "an unpinned tensor on the host into a device tensor"),
    *refusing("CL202", "torch.where", "a 0-d tensor on the host as one of the two values"),
    *safe("Tensor.to", "a pinned tensor on the host, with non_blocking=True"),
    # CL203: indices that live on the host.
    *refusing("CL203", "Tensor.__getitem__ Tensor.__setitem__", "a list of integers"),
    *refusing("CL203", "Tensor.__getitem__", "a list of booleans, a range or a numpy array"),
    *refusing(
        "CL203",
        "Tensor.__getitem__ Tensor.__setitem__",
        "an integer tensor on the host of at least one dimension",
    ),
    *refusing(
        "CL203",
        "Tensor.__setitem__",
        "an integer device tensor, and a number as value",
        torch=_NUMBER_FORMS,
    ),
    *refusing(
        "CL203", "Tensor.__setitem__", "an integer device tensor, and a 0-d host tensor as value"
    ),
    *refusing(
        "CL203",
        "Tensor.__setitem__",
        "an integer for every dimension, and a number as value",
        torch=_NUMBER_FORMS,
    ),
    *refusing(
        "CL203",
        "Tensor.__setitem__",
        "an integer for every dimension, and a 0-d host tensor as value",
    ),
    *safe(
        "Tensor.__setitem__",
        "an integer device tensor, or an integer for every dimension, and a number as value",
        torch=_NUMBER_FILLED,
    ),
    *safe("Tensor.__getitem__", "a 0-d integer tensor on the host, or a boolean one"),
    *safe("Tensor.__getitem__", "an empty list, or a numpy integer"),
    *safe("Tensor.__setitem__", "fewer integers than dimensions, or slices, and a number"),
    *safe("Tensor.__setitem__", "`x[idx] += 1.0` and `x[0, 1] += 1.0`"),
    *safe("Tensor.index_fill_ Tensor.scatter_", "a device index and a number as value"),
    *safe(
        "Tensor.index_add_ Tensor.index_copy_ Tensor.scatter_add_ Tensor.index_put_",
        "device tensors",
    ),
    # A pinned source is read again by every replay.
    *stale("CL204", "Tensor.to", "a pinned tensor on the host that changes"),
    *stale("CL204", "Tensor.to", "a pinned temporary", torch=_RECYCLED),
    *safe("Tensor.to", "a temporary that is pinned during capture", torch=_KEPT),
    # CL205: a number on the host is baked into the kernel.
    *stale(
        "CL205",
        "Tensor.__add__ Tensor.__sub__ Tensor.__mul__ Tensor.__truediv__ Tensor.__pow__ "
        "Tensor.__lt__ Tensor.__gt__ torch.add torch.sub torch.mul torch.div torch.lerp torch.maximum",
        "a 0-d tensor on the host that changes between calls",
    ),
)
