"""Modules of torch that compute and change nothing, whatever they are given."""

from __future__ import annotations

from torch import nn

_PURE = (
    *(nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.LayerNorm, nn.GroupNorm, nn.RMSNorm),
    *(nn.ReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Softplus, nn.LeakyReLU, nn.ELU, nn.Mish),
    *(nn.Hardswish, nn.Identity, nn.Softmax, nn.Flatten, nn.Unflatten, nn.AvgPool1d, nn.AvgPool2d),
    *(nn.AdaptiveAvgPool1d, nn.AdaptiveAvgPool2d, nn.MaxPool2d),
)
_HOOKS = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")


def is_pure(module: nn.Module) -> bool:
    """Return whether a call of a module changes nothing and draws no random numbers."""
    if any(getattr(module, hooks, None) for hooks in _HOOKS) or "forward" in vars(module):
        return False
    if type(module) is nn.Sequential:
        return all(is_pure(child) for child in module)
    # One that writes over what it is given is not; nor dropout, whose code also runs in training.
    return type(module) in _PURE and not getattr(module, "inplace", False)
