"""Time `capturelint check` beside `ruff check --no-cache` on trees of source.

    python tests/bench/bench_check.py TREE [TREE ...] [--rounds 3]

Prints, per tree, medians of CPU seconds (user and system, children included), the peak resident
memory in MiB and the ratio to ruff, all measured in one run, turn and turn about. Also what the
check counted: files, roots, captured functions, findings, unreadable files and analysis errors.
It is no test: nothing here is asserted, since a machine's speed is not ours.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took: CPU seconds, and MiB of memory at its peak."""

    seconds: float
    mebibytes: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scope", default="captured")
    options = parser.parse_args(argv)
    for tree in options.trees:
        print(measured(tree, rounds=options.rounds, scope=options.scope))
    return 0


def measured(tree: Path, *, rounds: int, scope: str) -> str:
    """Return one line about a tree."""
    check = [sys.executable, "-m", "capturelint", "check", "--exit-zero", "--format", "json"]
    check += ["--scope", scope, tree.name]
    ruff = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--no-cache",
        "--quiet",
        "--exit-zero",
        tree.name,
    ]
    ours: list[Cost] = []
    theirs: list[Cost] = []
    output = b""
    for _ in range(rounds):
        cost, output = run(check, tree.parent)
        ours.append(cost)
        theirs.append(run(ruff, tree.parent)[0])
    mine, other = _median(ours), _median(theirs)
    found = json.loads(output)
    unreadable = sum(finding["code"] == "CL000" for finding in found["findings"])
    return (
        f"{tree.name}: {mine.seconds:.1f} CPU s, {mine.mebibytes:.0f} MiB; "
        f"ruff {other.seconds:.2f} CPU s, {other.mebibytes:.0f} MiB; "
        f"ratio {mine.seconds / max(other.seconds, 0.01):.1f}; {found['files']} files, "
        f"{found['roots']} roots, {found['captured_functions']} captured functions, "
        f"{len(found['findings'])} findings, {unreadable} unreadable, {len(found['errors'])} errors"
    )


def run(command: Sequence[str], folder: Path) -> tuple[Cost, bytes]:
    """Run a command in `folder`; return what it cost, its children included, and its output."""
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE)
    assert process.stdout is not None, "its output is a pipe"
    output = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    return Cost(usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024), output


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.seconds for cost in costs),
        statistics.median(cost.mebibytes for cost in costs),
    )


if __name__ == "__main__":
    sys.exit(main())
