"""Rewrite many random programs, and hold each patch against its program by means of its own.

    python -m tests.bench.fuzz_rewrites --programs 2000 [--first SEED] [--no-proof]

Programs have their seed as their name: the same seed gives the same one. Prints what became of all,
the reasons of those that stay, and each patch that is wrong with both texts.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.rewritten_programs import outcomes

_QUOTED = re.compile(r"`[^`]*`|line \d+: |inputs [^:]*: .*|tensor\(.*")
_TOLD = 100  # programs


def main(argv: Sequence[str] | None = None) -> int:
    """Run and print; 1 if a patch is wrong or a process died."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--programs", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--no-proof", action="store_true", help="leave out the proof")
    options = parser.parse_args(argv)
    counts, reasons = Counter[str](), Counter[str]()
    started = time.monotonic()
    seeds = range(options.first, options.first + options.programs)
    with tempfile.TemporaryDirectory() as folder:
        for seed, kind, why in outcomes(seeds, Path(folder), is_proven=not options.no_proof):
            counts[kind] += 1
            if kind in ("wrong", "died"):
                print(f"{seed}: {kind}: {why}", flush=True)
            elif kind != "patched":
                reasons[f"{kind}: {_QUOTED.sub('..', why.partition(';')[0])}"] += 1
            if sum(counts.values()) % _TOLD == 0:
                print(f"{dict(counts)} {time.monotonic() - started:.0f} s", flush=True)
    for reason, number in reasons.most_common():
        print(f"{number:5} {reason}")
    print(f"{dict(counts)} of {len(seeds)}, {time.monotonic() - started:.0f} s")
    return 1 if counts["wrong"] or counts["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
