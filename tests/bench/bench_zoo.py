"""Judge every model of a zoo without a GPU and set the reports beside what a GPU did.

    python -m tests.bench.bench_zoo --zoo FILE --record FILE [--only NAME,..] [--output FILE]

The zoo is a Python file with `ZOO`: name -> (build, inputs(seed) -> keyword arguments); names that
end in `@bf16` run in bfloat16, and a model with `_train` in training mode. The record has one JSON
object a line: `name`, `outcome` (ok, capture_fail, mismatch), `culprits` (modules that fail when
captured alone) and `lines_as_if_capturing` (`file:line source` of each synchronising line).
Lines are compared by the end of the path and the source, so that versions may differ a little.
Prints one row for each model, then what disagrees, then the counts.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.debug.wire import encode
from capturelint.finding import Effect
from capturelint.rewrite.allowed import NOTHING, Allowed
from capturelint.verdict import Report, Verdict
from tests.forked import Answer, reports

CASES = """
import importlib.util, sys, torch
spec = importlib.util.spec_from_file_location("zoo", {zoo!r})
zoo = sys.modules["zoo"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(zoo)

def made(name):
    build, inputs = zoo.ZOO[name]
    torch.manual_seed(0)
    model = build()
    model.train(bool(getattr(model, "_train", False)))
    return (model.bfloat16() if name.endswith("@bf16") else model), inputs
"""

CASE = """
def case_{number}():
    return made({name!r})
"""

OUTCOMES = {
    Verdict.REFUSES: "capture_fail",
    Verdict.STALE: "mismatch",
    Verdict.EQUAL: "ok",
    Verdict.ALIASES_INPUT: "ok",
    Verdict.NONDETERMINISTIC: "ok",
}

_LINE = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?: (?P<source>.*))?")


@dataclass(frozen=True, slots=True)
class Compared:
    """One model: what was recorded and what is reported.

    `missed`, `more`: lines that only the record or only the report has. `strangers`: modules that
    are blamed and did not fail alone in the record. `undecided`: of the `judged` modules.
    """

    name: str
    recorded: str
    reported: str
    lines: int
    missed: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    blamed: int = 0
    strangers: tuple[str, ...] = ()
    judged: int = 0
    undecided: tuple[str, ...] = ()
    attempts: float = 0
    seconds: float = 0

    def __str__(self) -> str:
        found = self.lines - len(self.missed)
        return (
            f"{self.name:32} {self.recorded:12} {self.reported:24} lines {found}/{self.lines}"
            f"{f' and {len(self.more)} more' if self.more else ''}, blamed "
            f"{self.blamed - len(self.strangers)}/{self.blamed}, judged {self.judged}, "
            f"undecided {len(self.undecided)}, {self.attempts:g} attempts, {self.seconds:.1f} s"
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--zoo", type=Path, required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--output", type=Path, help="write all reports there, as JSON")
    options = parser.parse_args(argv)
    rows = [json.loads(line) for line in options.record.read_text().splitlines()]
    only = set(options.only.split(",")) - {""}
    rows = [row for row in rows if not only or row["name"] in only]
    started = time.monotonic()
    answers = judged(options.zoo, [row["name"] for row in rows], options.timeout, options.workers)
    if options.output:
        kept = {name: one if isinstance(one, str) else encode(one) for name, one in answers.items()}
        options.output.write_text(json.dumps(kept))
    compared = [comparison(row, answers[row["name"]]) for row in rows]
    print("\n".join(map(str, compared)))
    print(*disagreements(compared), sep="\n")
    print(f"{counts(compared)}, {time.monotonic() - started:.0f} s")
    return 0


def judged(
    zoo: Path,
    names: Sequence[str],
    timeout: float,
    workers: int,
    *,
    is_rewriting: bool = False,
    allowed: Allowed = NOTHING,
    above: Path | None = None,
) -> dict[str, Answer]:
    """Return the report on each model, or why there is none; options as `tests.forked.reports`."""
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.py"
        functions = [CASE.format(number=at, name=name) for at, name in enumerate(names)]
        cases.write_text("".join([CASES.format(zoo=str(zoo.resolve())), *functions]))
        settings = Settings(timeout=timeout)
        requests = {name: Request(f"{cases}:case_{at}", settings) for at, name in enumerate(names)}
        imported = ("transformers", "transformers.modeling_utils", "timm")
        return reports(
            requests,
            timeout=timeout,
            workers=workers,
            imported=imported,
            is_rewriting=is_rewriting,
            allowed=allowed,
            above=above,
        )


def comparison(row: Mapping[str, Any], answer: Answer) -> Compared:
    """Return what a report says beside what was recorded."""
    lines = {key: _place(key) for key in row["lines_as_if_capturing"]}
    name, recorded = row["name"], row["outcome"]
    if not isinstance(answer, Report):
        said = (answer.strip().splitlines() or ["nothing"])[-1]
        return Compared(name, recorded, f"no report: {said}", len(lines), tuple(lines))
    hazards = [one.place for one in answer.hazards if one.effect is Effect.REFUSES]
    is_in = {
        (key, place): _is_same(key_place, (place.path, place.source))
        for key, key_place in lines.items()
        for place in hazards
    }
    alone = {one["module"].replace("<root>", "") for one in row["culprits"]}
    blamed = [one.module for one in answer.culprits]
    undecided = [one for one in answer.modules if one.verdict is Verdict.UNDECIDED]
    return Compared(
        name,
        recorded,
        OUTCOMES.get(answer.verdict, answer.verdict.value),
        len(lines),
        tuple(key for key in lines if not any(is_in[key, place] for place in hazards)),
        tuple(
            f"{place.path}:{place.line} {place.source}"
            for place in hazards
            if not any(is_in[key, place] for key in lines)
        ),
        len(blamed),
        tuple(one or "the root" for one in blamed if one not in alone),
        len(answer.modules),
        tuple(f"{one.path or 'the root'}: {one.why}" for one in undecided),
        answer.timings.get("attempts", 0),
        answer.timings.get("total", 0),
    )


def disagreements(compared: Sequence[Compared]) -> list[str]:
    """Return a line for each thing in which report and record differ or that was not judged."""
    found: list[str] = []
    for one in compared:
        if one.recorded != one.reported:
            found.append(f"{one.name}: recorded {one.recorded}, reported {one.reported}")
        found += [f"{one.name}: line missed: {line}" for line in one.missed]
        found += [f"{one.name}: line not recorded: {line}" for line in one.more]
        found += [f"{one.name}: blamed, passed alone: {module}" for module in one.strangers]
        found += [f"{one.name}: undecided: {module}" for module in one.undecided]
    return found


def counts(compared: Sequence[Compared]) -> str:
    """Return the last line."""
    same = sum(one.recorded == one.reported for one in compared)
    lines = sum(one.lines for one in compared)
    found = lines - sum(len(one.missed) for one in compared)
    blamed = sum(one.blamed for one in compared)
    strangers = sum(len(one.strangers) for one in compared)
    pairs = Counter((one.recorded, one.reported.partition(":")[0]) for one in compared)
    return (
        f"{dict(pairs)}\nverdicts {same}/{len(compared)}, lines {found}/{lines} and "
        f"{sum(len(one.more) for one in compared)} more, blamed modules that failed alone "
        f"{blamed - strangers}/{blamed}, modules undecided "
        f"{sum(len(one.undecided) for one in compared)}/{sum(one.judged for one in compared)}"
    )


def _place(key: str) -> tuple[str, str]:
    match = _LINE.fullmatch(key)
    assert match is not None, f"not `file:line source`: {key}"
    return match["path"], (match["source"] or "").strip()


def _is_same(recorded: tuple[str, str], found: tuple[str, str]) -> bool:
    """Return whether both are one line; the record may have cut its source short."""
    path, source = recorded
    return found[0].replace("\\", "/").endswith(path) and found[1].strip().startswith(source)


if __name__ == "__main__":
    sys.exit(main())
