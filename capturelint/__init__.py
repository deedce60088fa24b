"""Find code that breaks under CUDA graph capture, from its source and by running it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = [
    "CaptureError",
    "CapturelintError",
    "Case",
    "GraphRunner",
    "Report",
    "__version__",
    "assert_capturable",
    "bisect",
]

# A type checker sees the names themselves, so that it also sees the names that do not exist.
if TYPE_CHECKING:
    from capturelint.debug.api import bisect
    from capturelint.debug.cases.case import Case
    from capturelint.errors import CapturelintError
    from capturelint.measure.runner import GraphRunner
    from capturelint.report.asserting import CaptureError, assert_capturable
    from capturelint.verdict import Report
else:
    _HOMES = {
        "CaptureError": "capturelint.report.asserting",
        "CapturelintError": "capturelint.errors",
        "Case": "capturelint.debug.cases.case",
        "GraphRunner": "capturelint.measure.runner",
        "Report": "capturelint.verdict",
        "assert_capturable": "capturelint.report.asserting",
        "bisect": "capturelint.debug.api",
    }

    def __getattr__(name: str) -> object:
        """Import a public name when it is asked for: `check` must start fast, without torch."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
