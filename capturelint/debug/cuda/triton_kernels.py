"""Kernels in Triton that user code launches: the dispatcher does not see them, recordings do."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from capturelint.debug.dispatched.launches import Launches
from capturelint.debug.dispatched.patches import Patches

_NO_ARGUMENTS = frozenset({"grid", "warmup"})


@contextmanager
def kernels_recorded(launches: Launches) -> Iterator[None]:
    """Write down the kernels that are launched inside, with their arguments, in `launches`.

    Those that `torch.compile` makes are launched in another way, and are not seen.
    """
    module: Any = sys.modules.get("triton.runtime.jit")
    kind: Any = getattr(module, "JITFunction", None)
    if not hasattr(kind, "run"):
        yield
        return
    patches = Patches()
    real = kind.run

    @wraps(real)
    def run(kernel: Any, *args: Any, **kwargs: Any) -> Any:
        result = real(kernel, *args, **kwargs)
        if not kwargs.get("warmup"):
            named = [(name, one) for name, one in kwargs.items() if name not in _NO_ARGUMENTS]
            launches.add_kernel(f"triton {_name(kernel)}", [*args, *named])
        return result

    patches.put(kind, "run", run)
    try:
        yield
    finally:
        patches.put_back()


def _name(kernel: Any) -> str:
    return str(getattr(getattr(kernel, "fn", None), "__name__", type(kernel).__name__))
