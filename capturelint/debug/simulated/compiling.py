"""`torch.compile` in a session: what it is given runs eagerly, and the report says so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from capturelint.debug.dispatched.refusal import Refusal

if TYPE_CHECKING:
    from capturelint.debug.dispatched.patches import Patches
    from capturelint.debug.simulated.simulator import Simulator

# As cudagraph trees say it when they are met inside a capture.
_NESTED = "Cannot prepare for replay during capturing stage. during CUDA graph capture."
_REFUSAL = Refusal(_NESTED, "graph", "torch.compile with CUDA graphs")
_GRAPH_MODES = ("reduce-overhead", "max-autotune")


def put_compile(patches: Patches, simulator: Simulator) -> None:
    """Let `torch.compile` and `Module.compile` leave functions and modules as they are."""

    def compiled(model: Any = None, **options: Any) -> Any:
        if model is None:
            return lambda later: compiled(later, **options)
        simulator.note(f"torch.compile: {_name(model)} ran eagerly")
        return _trapped(model, simulator) if uses_graphs(options) else model

    def compile_in_place(self: nn.Module, *_args: Any, **options: Any) -> None:
        simulator.note(f"torch.compile: {_name(self)} ran eagerly")
        if uses_graphs(options):
            self._compiled_call_impl = _trapped_call(self._call_impl, simulator)

    patches.put(torch, "compile", compiled)
    patches.put(nn.Module, "compile", compile_in_place)
    _put_compiled_before(patches, simulator)


def _put_compiled_before(patches: Patches, simulator: Simulator) -> None:
    """Let what was compiled before the session run eagerly as well.

    A compiled function asks `_callback_from_stance` (torch 2.6 to 2.13) what compiles it; None
    means that it runs as it is.
    """
    frames: Any = sys.modules.get("torch._dynamo.eval_frame")
    if not hasattr(frames, "_callback_from_stance"):
        return  # nothing was compiled yet

    def eager(callback: Any) -> Any:
        if callback:
            simulator.note("torch.compile: what was compiled before the run ran eagerly")
            if _makes_graphs(callback):
                simulator.refuse(_REFUSAL)

    patches.put(frames, "_callback_from_stance", eager)


def _makes_graphs(callback: Any) -> bool:
    """Return whether what compiles a function makes CUDA graphs of it, as `torch.compile` set it."""
    while callback is not None:
        config = getattr(callback, "config", None)
        if isinstance(config, Mapping):
            return bool(config.get("triton.cudagraphs"))
        callback = getattr(callback, "_torchdynamo_orig_backend", None) or getattr(
            callback, "_torchdynamo_orig_callable", None
        )
    return False


def uses_graphs(options: Mapping[str, Any]) -> bool:
    """Return whether the arguments of `torch.compile` ask for CUDA graphs of its own."""
    chosen = options.get("options") or {}
    return options.get("mode") in _GRAPH_MODES or bool(chosen.get("triton.cudagraphs"))


def _trapped(model: Any, simulator: Simulator) -> Any:
    if not isinstance(model, nn.Module):
        return _trapped_call(model, simulator)
    return CompiledWithGraphs(model, simulator)


def _trapped_call(function: Callable[..., Any], simulator: Simulator) -> Callable[..., Any]:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        simulator.refuse(_REFUSAL)
        return function(*args, **kwargs)

    return call


class CompiledWithGraphs(nn.Module):
    """A module that was compiled to graphs of its own: it runs eagerly, but not in a capture."""

    def __init__(self, module: nn.Module, simulator: Simulator) -> None:
        super().__init__()
        self._orig_mod = module
        self._call = _trapped_call(module, simulator)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_orig_mod"), name)


def _name(model: Any) -> str:
    return str(getattr(model, "__qualname__", type(model).__qualname__))
