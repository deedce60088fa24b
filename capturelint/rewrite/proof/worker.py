"""The child process that judges a case and rewrites what is to blame."""

from __future__ import annotations

import sys
from functools import partial
from typing import NoReturn

from capturelint.debug.processes import worker
from capturelint.rewrite.allowed import Allowed
from capturelint.rewrite.proof.judge import judge_and_rewrite


def main() -> NoReturn:
    """Judge and rewrite the request on standard input; speak on what was standard output."""
    judge = partial(judge_and_rewrite, allowed=Allowed.said(sys.argv))
    worker.main(worker.Tools(judge=judge))
