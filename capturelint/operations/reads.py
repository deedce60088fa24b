"""Operations that bring a tensor's value to the host: reads, copies, text, builtins."""

from __future__ import annotations

from capturelint.operations.operation import Operation, refusing, safe, stale

READS: tuple[Operation, ...] = (
    # CL101: the value itself becomes a Python number.
    *refusing("CL101", "Tensor.item Tensor.tolist"),
    *refusing(
        "CL101",
        "builtins.int builtins.float builtins.bool builtins.complex operator.index builtins.chr",
        "of a device tensor",
    ),
    *refusing(
        "CL101",
        "Tensor.__int__ Tensor.__float__ Tensor.__bool__ Tensor.__complex__ Tensor.__index__",
    ),
    *refusing(
        "CL101",
        "math.acos math.acosh math.asin math.asinh math.atan math.atan2 math.atanh math.ceil "
        "math.copysign math.cos math.cosh math.degrees math.erf math.erfc math.exp math.expm1 "
        "math.fabs math.floor math.fmod math.gamma math.hypot math.isclose math.isfinite math.isinf "
        "math.isnan math.ldexp math.lgamma math.log math.log10 math.log1p math.log2 math.pow "
        "math.radians math.sin math.sinh math.sqrt math.tan math.tanh",
        "of a device tensor",
    ),
    *safe("Tensor.item Tensor.tolist builtins.int builtins.float", "of a tensor on the host"),
    *safe("Tensor.size Tensor.dim Tensor.numel Tensor.stride Tensor.is_contiguous builtins.len"),
    *safe("Tensor.is_floating_point torch.is_tensor builtins.isinstance Tensor.data_ptr"),
    *safe("builtins.hash builtins.abs", "of a device tensor"),
    # CL102: the memory is copied to the host.
    *refusing("CL102", "Tensor.cpu"),
    *refusing("CL102", "Tensor.to", "the target is the CPU"),
    *stale("CL102", "Tensor.to", "the target is the CPU, with non_blocking=True"),
    *refusing("CL102", "Tensor.numpy", "of a device tensor, with force=True"),
    *refusing("CL102", "numpy.asarray numpy.array", "of a device tensor"),
    *refusing("CL102", "Tensor.copy_", "a device tensor into one on the host"),
    *refusing("", "Tensor.type", "`torch.FloatTensor` and its like"),
    *safe("Tensor.to", "another dtype, or the device that the tensor is on"),
    *safe("Tensor.cuda", "of a tensor that is on the device"),
    # CL103: text of a tensor holds its values.
    *refusing("CL103", "builtins.print", "of a device tensor"),
    *refusing("CL103", "warnings.warn", "a message with a device tensor in it"),
    *refusing("CL103", "builtins.str builtins.repr builtins.format", "of a device tensor"),
    *refusing("CL103", "str.format str.__mod__ f-string", "a device tensor in a field"),
    *safe("logging.Logger.debug", "`%s` with a device tensor at a level that is switched off"),
    # CL105: Python compares the elements.
    *refusing(
        "CL105",
        "builtins.any builtins.all builtins.max builtins.min builtins.sorted",
        "over a device tensor or over device tensors",
    ),
    *refusing("CL105", "operator.contains", "`n in values` with a device tensor on a side"),
    *safe("builtins.sum", "over a device tensor or over device tensors: additions on the device"),
    *safe(
        "builtins.list builtins.tuple builtins.zip builtins.enumerate builtins.reversed",
        "of a device tensor",
    ),
    *safe("for", "over a device tensor"),
)
