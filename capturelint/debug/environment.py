"""What a verdict depends on besides the code: versions, the device, the kind of attention."""

from __future__ import annotations

import platform
import sys
from collections import Counter
from collections.abc import Mapping

from torch import nn
from torch.nn.parameter import UninitializedParameter

from capturelint.debug.backend import Backend

_LIBRARIES = ("transformers", "timm", "vllm", "sglang", "diffusers")


def environment_of(backend: Backend, modules: Mapping[str, nn.Module]) -> dict[str, str]:
    """Return versions and choices by name, for a case with these modules."""
    found = dict(backend.environment())
    found["python"] = platform.python_version()
    for library in _LIBRARIES:
        version = getattr(sys.modules.get(library), "__version__", None)
        if isinstance(version, str):
            found[library] = version
    dtype = _dtype(modules)
    if dtype:
        found["dtype"] = dtype
    attention = _attention(modules)
    if attention:
        found["attention"] = attention
    return found


def _dtype(modules: Mapping[str, nn.Module]) -> str:
    """Return the dtype of most parameters' elements, or "" without parameters."""
    sizes: Counter[str] = Counter()
    for module in modules.values():
        for parameter in module.parameters(recurse=False):
            # A lazy module that was never called has no sizes yet.
            elements = 0 if isinstance(parameter, UninitializedParameter) else parameter.numel()
            sizes[str(parameter.dtype).removeprefix("torch.")] += elements
    return max(sizes, key=lambda name: sizes[name], default="")


def _attention(modules: Mapping[str, nn.Module]) -> str:
    """Return the implementation of attention that a transformers model was configured with."""
    for module in modules.values():
        chosen = getattr(getattr(module, "config", None), "_attn_implementation", None)
        if isinstance(chosen, str):
            return chosen
    return ""
