"""Find code that breaks under CUDA graph capture, from its source and by running it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Case", "Report", "__version__", "assert_capturable", "bisect"]

# A type checker sees the names themselves, so that it also sees the names that do not exist.
if TYPE_CHECKING:
    from capturelint.debug.api import bisect
    from capturelint.debug.cases.case import Case
    from capturelint.report.asserting import assert_capturable
    from capturelint.verdict import Report
else:

    def __getattr__(name: str) -> object:
        """Import a public name when it is asked for: `check` must start fast, without torch."""
        if name == "bisect":
            home = "capturelint.debug.api"
        elif name == "assert_capturable":
            home = "capturelint.report.asserting"
        elif name == "Case":
            home = "capturelint.debug.cases.case"
        elif name == "Report":
            home = "capturelint.verdict"
        else:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
