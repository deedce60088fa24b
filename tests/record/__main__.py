"""Capture every example and form on the GPU that is here, and write down what it did.

`python -m tests.record` takes about three minutes on an H200, and with `--changed`, for what has no
record as it is now, some seconds. What is known is written as it comes, so that a run that is
stopped loses nothing, and put in order at the end.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import TextIO, TypeAlias

import torch

from tests.record.outcome import Outcome
from tests.record.pool import outcomes
from tests.record.task import Task, example_tasks, form_tasks, judged_on_device

_RECORDS = Path(__file__).parents[2] / "fixtures" / "measured"

Line: TypeAlias = dict[str, str]

# Seconds for one task; some compile.
_TIMEOUT = 120.0


def facts() -> dict[str, str] | None:
    """Return what the device is, and which torch and driver run it; None without a device.

    Asked in a process of its own, so that this one can fork others that use the device.
    """
    if torch.version.cuda is None:
        return None
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply_async(_facts).get(timeout=_TIMEOUT)


def run(
    tasks: Sequence[Task], path: Path, about: dict[str, str], *, known: Mapping[Task, Line]
) -> None:
    """Write the record of the tasks to `path` as it comes, and in their order at the end.

    `known`: lines of an earlier record, whose tasks do not run again.
    """
    workers = max(2, (os.cpu_count() or 2) - 2)
    found = dict(known)
    started = time.monotonic()
    waiting = [task for task in tasks if task not in known]
    with path.open("w", encoding="utf-8") as file:
        _write(file, found.values())
        for task, outcome in outcomes(waiting, judged_on_device, workers=workers, timeout=_TIMEOUT):
            found[task] = _line(task, outcome, about)
            _write(file, [found[task]])
            if len(found) % 50 == 0 or len(found) == len(tasks):
                spent = time.monotonic() - started
                print(f"{path.name}: {len(found)} of {len(tasks)}, {spent:.0f} s", flush=True)
        file.seek(0)
        file.truncate()
        _write(file, [found[task] for task in tasks])


def current(tasks: Iterable[Task], path: Path) -> dict[Task, Line]:
    """Return the lines of a record that are about the tasks as they are now.

    A row of the table that words its form otherwise now keeps what its code came to.
    """
    texts = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    lines = {_name(line): line for line in map(json.loads, texts)}
    named = {task: _name(task.key | {"source": task.source}) for task in tasks}
    return {task: lines[name] | task.key for task, name in named.items() if name in lines}


def main(arguments: Sequence[str] | None = None) -> int:
    """Write both records; return 0, or 2 without a device."""
    parser = argparse.ArgumentParser(prog="python -m tests.record")
    parser.add_argument("folder", type=Path, nargs="?", default=_RECORDS, help="where to write")
    parser.add_argument("--changed", action="store_true", help="run only what has no record now")
    options = parser.parse_args(arguments)
    folder: Path = options.folder
    about = facts()
    if about is None:
        print("no CUDA device here: nothing was captured", file=sys.stderr)
        return 2
    print(about, flush=True)
    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    folder.mkdir(parents=True, exist_ok=True)
    records: list[tuple[str, list[Task]]] = [
        ("fixtures.jsonl", [*example_tasks()]),
        ("operations.jsonl", [*form_tasks()]),
    ]
    for name, tasks in records:
        known = current(tasks, _RECORDS / name) if options.changed else {}
        run(tasks, folder / name, about, known=known)
    return 0


def _name(line: Line) -> tuple[str, ...]:
    return tuple(line.get(key, "") for key in ("rule", "example", "op", "code", "source"))


def _line(task: Task, outcome: Outcome, about: dict[str, str]) -> Line:
    shown = {"outcome": outcome.outcome, "error": outcome.error, "source": task.source}
    return task.key | shown | about


def _write(file: TextIO, lines: Iterable[Line]) -> None:
    file.writelines(json.dumps(line) + "\n" for line in lines)
    file.flush()


def _facts() -> dict[str, str] | None:
    if not torch.cuda.is_available():
        return None
    asked = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = subprocess.run(asked, capture_output=True, text=True, check=False).stdout.split()
    return {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "driver": driver[0] if driver else "",
        "date": datetime.now(timezone.utc).date().isoformat(),
    }


if __name__ == "__main__":
    sys.exit(main())
