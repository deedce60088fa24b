"""Judge every probe and write what bisect said of each, one JSON object a line.

    python -m tests.bench.bench_probes --output FILE [--backend cuda] [--modes warm,cold] [--workers N]

The first line tells the device, versions, date and a digest of the sources that judged. Prints how
many agree with the record of what an H200 did, and each that does not.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.verdict import Report
from tests.forked import ROOT, Answer, reports
from tests.measured import MARK
from tests.test_probes import CASE, NEVER_RUN, NOT_RUN, shown_by, wanted_in

_MODES = {"warm": Settings(), "cold": Settings(warmup=0)}
_JUDGES = ("capturelint/debug", "capturelint/operations", "fixtures/probes")


def main(argv: Sequence[str] | None = None) -> int:
    """Judge, write and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--backend", default="cuda")
    parser.add_argument("--modes", default="warm,cold")
    parser.add_argument("--workers", type=int, default=8)
    options = parser.parse_args(argv)
    lines: list[dict[str, Any]] = []
    environment: Mapping[str, str] = {}
    for mode in options.modes.split(","):
        without = NOT_RUN if options.backend == "simulated" else NEVER_RUN
        wanted = wanted_in(mode, without=without)
        settings = replace(_MODES[mode], backend=options.backend)
        answers = judged(wanted, settings, options.workers)
        lines += [_line(name, mode, answer) for name, answer in answers.items()]
        known = [one for one in answers.values() if isinstance(one, Report)]
        environment = next((one.environment for one in known if one.environment), environment)
        others = {
            name: (want, shown)
            for name, want in wanted.items()
            if (shown := shown_by(name, answers[name], want)) != want
        }
        print(f"{mode}: {len(wanted) - len(others)} of {len(wanted)} agree")
        print(
            *(f"  {name}: {got}, recorded {want}" for name, (want, got) in others.items()), sep="\n"
        )
    head = {**environment, "date": time.strftime("%Y-%m-%d"), "sources": sources_digest()}
    text = "".join(f"{json.dumps(line)}\n" for line in (head, *lines))
    options.output.write_text(text, encoding="utf-8")
    return 0


def judged(
    names: Sequence[str] | Mapping[str, Any], settings: Settings, workers: int
) -> dict[str, Answer]:
    """Return the answer to each probe, by name."""
    with tempfile.TemporaryDirectory() as folder:
        cases = Path(folder) / "cases.py"
        cases.write_text("".join(CASE.format(name=name) for name in names))
        requests = {name: Request(f"{cases}:{name}", settings) for name in names}
        return reports(requests, workers=workers)


def sources_digest() -> str:
    """Return a digest of the code that judges and of the probes."""
    digest = hashlib.sha256()
    for folder in _JUDGES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _line(name: str, mode: str, answer: Answer) -> dict[str, Any]:
    if not isinstance(answer, Report):
        return {"probe": name, "mode": mode, "error": answer.strip().splitlines()[-1]}
    return {
        "probe": name,
        "mode": mode,
        "verdict": answer.verdict.value,
        "culprits": list(_culprits(answer)),
        "seconds": answer.timings.get("seconds"),
    }


def _culprits(report: Report) -> Iterator[dict[str, str]]:
    for one in report.culprits:
        source = "" if one.place is None else one.place.source.strip().removesuffix(MARK)
        yield {
            "line": source,
            "certainty": one.certainty.value,
            "operation": one.operation,
            "message": one.message.partition("\n")[0],
        }


if __name__ == "__main__":
    sys.exit(main())
