"""The child process that judges a case and rewrites what is to blame."""

from __future__ import annotations

import sys
from functools import partial
from typing import NoReturn

from capturelint.debug.processes import worker
from capturelint.rewrite.proof.judge import judge_and_rewrite
from capturelint.rewrite.prove import PARTIAL


def main() -> NoReturn:
    """Judge and rewrite the request on standard input; speak on what was standard output."""
    judge = partial(judge_and_rewrite, is_partial=PARTIAL in sys.argv)
    worker.main(worker.Tools(judge=judge))
