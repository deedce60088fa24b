"""What is wrong with how a runner is made or called, in one line."""

from __future__ import annotations

from capturelint.errors import CapturelintError


class RunnerError(CapturelintError):
    """A runner cannot be made or called like this."""
