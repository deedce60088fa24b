"""Modules of torch that compute and change nothing, whatever they are given."""

from __future__ import annotations

from torch import nn

from capturelint.rewrite.proof.rowwise import has_rowwise_code

_PURE = (
    *(nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm),
    *(nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.LeakyReLU, nn.ELU, nn.Mish),
    *(nn.Hardswish, nn.Identity, nn.Softmax, nn.Flatten, nn.Unflatten, nn.AvgPool1d, nn.AvgPool2d),
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.MaxPool2d),
)
_ROWWISE = (
    *(nn.Linear, nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.LeakyReLU),
    *(nn.ELU, nn.Mish, nn.Hardswish, nn.Identity),
)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def is_pure(module: nn.Module) -> bool:
    """Return whether a call of a module changes nothing and draws no random numbers."""
    if any(getattr(module, hooks, None) for hooks in _HOOKS) or "forward" in vars(module):
        return False
    if type(module) is nn.Sequential:
        return all(is_pure(child) for child in module)
    # One that writes over what it is given is not; nor dropout, whose code also runs in training.
    is_known = type(module) in _PURE and not getattr(module, "inplace", False)
    return is_known or has_rowwise_code(module, is_rowwise)


def is_rowwise(module: nn.Module) -> bool:
    """Return whether a call of a module is pure, and each row of the result comes of one row alone.

    A row is all that the last dimension holds.
    """
    if not is_pure(module):
        return False
    if type(module) is nn.Sequential:
        return all(is_rowwise(child) for child in module)
    if isinstance(module, nn.LayerNorm | nn.RMSNorm):
        return len(module.normalized_shape) == 1
    return type(module) in _ROWWISE or has_rowwise_code(module, is_rowwise)
