"""Run the same examples and forms on the capture simulator: `python -m tests.record.simulated [N]`.

Writes a line of JSON for each, or for one in N: what it is, and its outcome.
"""

from __future__ import annotations

import json
import sys

import torch

from capturelint.debug.simulated.backend import SimulatedBackend
from tests.before_forks import prepare
from tests.record.outcome import UNDECIDED, Outcome
from tests.record.pool import outcomes
from tests.record.task import Task, example_tasks, form_tasks, judged

_BACKEND = SimulatedBackend()


def main() -> None:
    """Judge all, in processes that share no session."""
    prepare()
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    every = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    tasks: list[Task] = [*example_tasks(), *form_tasks()]
    for task, outcome in outcomes(tasks[::every], _judged, workers=2, timeout=300):
        sys.stdout.write(json.dumps(task.key | {"outcome": outcome.outcome}) + "\n")


def _judged(task: Task) -> tuple[Outcome, bool]:
    with _BACKEND.session():
        outcome = judged(task)
        unsupported = _BACKEND.unsupported()
    if unsupported:
        outcome = Outcome(UNDECIDED, "; ".join(unsupported))
    return outcome, not task.is_alone


if __name__ == "__main__":
    main()
