"""Count findings per 1,000 lines of code, and draw the sample of them that people read.

    capturelint check --format json --output FOUND PACKAGE
    python -m tests.bench.bench_precision --found PROJECT=FOUND .. --folder PROJECT=FOLDER .. \
        [--size 150] [--least 10] [--seed 1]

FOLDER is where the check of PROJECT ran, so that its paths lead to the files. Prints the counts of
each project, then the sample: in proportion to the findings of a project, but no fewer than `--least`
where it has as many. The same findings and seed draw the same sample. Each finding is printed with the
functions that lead to it and the source around it.
"""

from __future__ import annotations

import argparse
import io
import json
import random
import sys
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_BEFORE, _AFTER = 12, 2
_ENDS = frozenset((tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT))
_NOT_CODE = _ENDS | {tokenize.COMMENT, tokenize.NL}

Finding = dict[str, Any]


def main(argv: Sequence[str] | None = None) -> int:
    """Print counts and sample."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--found", nargs="+", required=True, metavar="PROJECT=FILE")
    parser.add_argument("--folder", nargs="+", required=True, metavar="PROJECT=FOLDER")
    parser.add_argument("--size", type=int, default=150)
    parser.add_argument("--least", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    folders = {name: Path(text) for name, text in map(_pair, options.folder)}
    found = {}
    for name, text in map(_pair, options.found):
        found[name] = json.loads(Path(text).read_text(encoding="utf-8"))["findings"]
        lines = sum(map(lines_of_code, (folders[name] / name).rglob("*.py")))
        rate = 1000 * len(found[name]) / lines
        print(f"{name}: {len(found[name])} in {lines} lines of code, {rate:.3f} per 1,000")
        print(f"  {dict(sorted(Counter(one['code'] for one in found[name]).items()))}")
    shares = shared_out({name: len(findings) for name, findings in found.items()}, options)
    for name, share in shares.items():
        for index in sorted(random.Random(options.seed).sample(range(len(found[name])), share)):
            _show(f"{name} {index}", found[name][index], folders[name])
    return 0


def shared_out(counts: Mapping[str, int], options: argparse.Namespace) -> dict[str, int]:
    """Return how many findings of each project are drawn, `options.size` in all where there are."""
    shares = {name: min(count, options.least) for name, count in counts.items()}
    while sum(shares.values()) < min(options.size, sum(counts.values())):
        open_names = [name for name, count in counts.items() if shares[name] < count]
        neediest = max(open_names, key=lambda name: counts[name] / (shares[name] + 1))
        shares[neediest] += 1
    return shares


def lines_of_code(path: Path) -> int:
    """Return how many lines hold code: no blank lines, comments or docstrings."""
    text = path.read_text(encoding="utf-8", errors="replace")
    held: set[int] = set()
    starts = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _NOT_CODE:
                starts = starts or token.type in _ENDS
                continue
            if not (starts and token.type == tokenize.STRING):
                held.update(range(token.start[0], token.end[0] + 1))
            starts = False
    except (tokenize.TokenError, SyntaxError):
        return text.count("\n")
    return len(held)


def _pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def _show(label: str, finding: Finding, folder: Path) -> None:
    place = f"{finding['path']}:{finding['line']}"
    print(f"\n[{label}] {place} {finding['code']} {finding['message']}")
    print("  " + " > ".join(f"{step['function']}:{step['line']}" for step in finding["chain"]))
    lines = (folder / finding["path"]).read_text(encoding="utf-8", errors="replace").splitlines()
    for number in range(
        max(1, finding["line"] - _BEFORE), min(len(lines), finding["end_line"] + _AFTER) + 1
    ):
        mark = ">" if finding["line"] <= number <= finding["end_line"] else " "
        print(f"{mark} {number:5} {lines[number - 1]}")


if __name__ == "__main__":
    sys.exit(main())
