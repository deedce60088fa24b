"""What each forked process would import and read by itself: done once, before the forks."""

from __future__ import annotations

from importlib import import_module

_IMPORTED = (
    "torch",
    "torch._dynamo",
    "torch.nested",
    "capturelint.debug.engine",
    "capturelint.debug.simulated",
)


def prepare(*more: str) -> None:
    """Import torch, what judges, and `more` modules; read the presets. Takes seconds, the first time."""
    for name in (*_IMPORTED, *more):
        import_module(name)
    from capturelint.preset import presets_for

    presets_for(())  # reads all, to see which are wanted
