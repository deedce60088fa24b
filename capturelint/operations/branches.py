"""Operations that let a tensor's value decide what the host does next."""

from __future__ import annotations

from capturelint.operations.operation import Operation, refusing, safe

BRANCHES: tuple[Operation, ...] = (
    # CL401
    *refusing("CL401", "if while", "a device tensor as test"),
    *refusing("CL401", "ternary and or not match", "a device tensor as test"),
    *safe("if", "shape, dtype, device, `is None`, isinstance, self.training"),
    *safe("torch.where torch.clamp", "in place of a branch"),
    # CL402
    *refusing("CL402", "assert", "a device tensor as test"),
    *refusing("CL402", "torch.equal Tensor.equal torch.allclose Tensor.allclose torch.is_nonzero"),
    *refusing("CL402", "Tensor.is_nonzero torch._check_tensor_all torch.testing.assert_close"),
    *refusing("CL402", "torch.nn.utils.clip_grad_norm_", "error_if_nonfinite=True"),
    *safe("torch._assert_async"),
    *safe("torch.isclose"),
    *safe("torch.nn.utils.clip_grad_norm_"),
    # CL403
    *refusing("CL403", "for", "over range of a device tensor"),
)
