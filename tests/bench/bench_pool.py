"""Time the reading of files by one process beside several, to see when a pool is worth it.

    python tests/bench/bench_pool.py TREE [--jobs 2] [--rounds 3]

Prints, for growing numbers of files spread over the tree, the least CPU seconds (children included)
and wall seconds of the rounds, turn and turn about. It is no test, and asserts nothing.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from capturelint.lint import indexing
from capturelint.lint.cache.facts import Named

_COUNTS = (50, 100, 200, 400, 800, 1600)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args(argv)
    paths = sorted(options.tree.rglob("*.py"))
    gc.disable()
    for count in (*(n for n in _COUNTS if n < len(paths)), len(paths)):
        files = [(paths[at * len(paths) // count], f"m{at}", False) for at in range(count)]
        rounds = [(_costs(files, 1), _costs(files, options.jobs)) for _ in range(options.rounds)]
        words = []
        for number, jobs in enumerate((1, options.jobs)):
            cpu = min(costs[number][0] for costs in rounds)
            wall = min(costs[number][1] for costs in rounds)
            words.append(f"{jobs} at once {cpu:6.2f} CPU s {wall:6.2f} wall s")
        print(f"{count:5} files: {', '.join(words)}", flush=True)
    return 0


def _costs(files: Sequence[Named], jobs: int) -> tuple[float, float]:
    """Return the CPU and wall seconds of reading files, with a pool however few there are."""
    indexing.WORTH_A_POOL = 0
    start, began = _cpu(), time.perf_counter()
    for _ in indexing.indexed(files, {}, jobs=jobs, encoded=False):
        pass
    return _cpu() - start, time.perf_counter() - began


def _cpu() -> float:
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


if __name__ == "__main__":
    sys.exit(main())
