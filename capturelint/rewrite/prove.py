"""Judge a case by name and rewrite what is to blame, in child processes."""

from __future__ import annotations

from capturelint.debug.processes.request import Request
from capturelint.debug.processes.spawn import worker_command
from capturelint.debug.processes.supervised import Progress, run_by_name
from capturelint.rewrite.allowed import NOTHING, Allowed
from capturelint.verdict import Report

_WORKER = "capturelint.rewrite.proof.worker"


def bisect_and_rewrite(
    request: Request, *, resume: bool, progress: Progress | None, allowed: Allowed = NOTHING
) -> Report:
    """Return the report on a case, with what can be written instead and which lines stay.

    Raises a `CapturelintError` if the case cannot be used.
    """
    command = worker_command(_WORKER)
    # The last word is where the child finds this package.
    command = (*command[:-1], *allowed.words, command[-1])
    return run_by_name(request, command=command, resume=resume, progress=progress)
