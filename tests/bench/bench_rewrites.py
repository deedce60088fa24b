"""Rewrite every model of a zoo that is blamed, and judge it again with what was written.

    python -m tests.bench.bench_rewrites --zoo FILE --record FILE [--only NAME,..] [--output FILE]
        [--all-experts] [--unsafe-fixes] [--partial]

Zoo and record are those of `bench_zoo`; of the record the models are taken that have a synchronising
line. Nothing is written to the installed packages: what is rewritten is written into a copy of the
package, from which a model of which no line stays is then judged in a fresh process. Prints what became of each function
to blame, the reasons of those that stay, the counts, and with `--diffs FILE` writes all patches there.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from capturelint.debug.wire import encode
from capturelint.rewrite.allowed import Allowed
from capturelint.rewrite.compose import unified_diff
from capturelint.rewrite.observed import qualname_at
from capturelint.verdict import Report, Rewrite
from tests.bench.bench_zoo import judged
from tests.forked import Answer

_PACKAGES = ("transformers", "timm")
_SHOWN = 90  # characters of a reason


@dataclass(frozen=True, slots=True)
class Function:
    """A function to blame in one model. `reason`: why it stays, "" if it is rewritten."""

    model: str
    path: str
    qualname: str
    reason: str


def main(argv: Sequence[str] | None = None) -> int:
    """Rewrite, judge again and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--zoo", type=Path, required=True)
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--timeout", type=float, default=900)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--output", type=Path, help="write all reports there, as JSON")
    parser.add_argument("--diffs", type=Path, help="write all patches there")
    for word in ("--all-experts", "--unsafe-fixes", "--partial"):
        parser.add_argument(word, action="store_true", help="as `bisect` has it")
    options = parser.parse_args(argv)
    rows = [json.loads(line) for line in options.record.read_text().splitlines()]
    only = set(options.only.split(",")) - {""}
    blamed = [row["name"] for row in rows if row["lines_as_if_capturing"]]
    names = [name for name in blamed if not only or name in only]
    started = time.monotonic()
    answers = judged(
        options.zoo,
        names,
        options.timeout,
        options.workers,
        is_rewriting=True,
        allowed=Allowed(options.partial, options.all_experts, options.unsafe_fixes),
    )
    if options.output:
        kept = {name: one if isinstance(one, str) else encode(one) for name, one in answers.items()}
        options.output.write_text(json.dumps(kept))
    if options.diffs:
        options.diffs.write_text("".join(sorted(set(_diffs(answers)))))
    for name, answer in answers.items():
        if not isinstance(answer, Report):
            print(f"{name}: no report: {(answer.strip().splitlines() or ['nothing'])[-1]}")
    functions = [one for name in names for one in functions_of(name, answers[name])]
    for one in functions:
        print(f"{one.model}: {one.path} {one.qualname}: {one.reason or 'rewritten'}")
    after = judged_again(answers, options)
    for name, verdict in after.items():
        print(f"{name}: once rewritten {verdict}", flush=True)
    print(counts(functions, after))
    print(f"{len(names)} models, {time.monotonic() - started:.0f} s")
    return 0


def functions_of(model: str, answer: Answer) -> Iterator[Function]:
    """Yield the functions that a report blames, once each."""
    if not isinstance(answer, Report):
        return
    places = [(one, "") for rewrite in answer.rewrites for one in rewrite.places]
    places += [(kept.place, kept.reason) for kept in answer.kept]
    found: dict[tuple[str, str], str] = {}
    for place, reason in places:
        path = Path(place.path)
        name = qualname_at(path.read_text(), place.path, place.line) if path.is_file() else ""
        key = shown(place.path), name
        found[key] = found.get(key, "") or reason
    for (path_, name), reason in found.items():
        yield Function(model, path_, name, reason)


def shown(path: str) -> str:
    """Return a path from its package on."""
    parts = Path(path).parts
    starts = [at for at, one in enumerate(parts) if one in _PACKAGES]
    return "/".join(parts[starts[-1] :]) if starts else path


def judged_again(answers: Mapping[str, Answer], options: argparse.Namespace) -> dict[str, str]:
    """Return the verdict on each model that was rewritten as a whole, from copies with what was written."""
    found: dict[str, str] = {}
    for group in _together(answers):
        texts = {one.path: one.text for _, rewrites in group for one in rewrites}
        names = [name for name, _ in group]
        with tempfile.TemporaryDirectory() as folder:
            for package in _PACKAGES:
                _copied(package, Path(folder), texts)
            again = judged(options.zoo, names, options.timeout, options.workers, above=Path(folder))
        for name in names:
            answer = again[name]
            if isinstance(answer, Report):
                found[name] = answer.verdict.value
            else:
                found[name] = answer.strip().splitlines()[-1]
    return found


def _together(answers: Mapping[str, Answer]) -> list[list[tuple[str, tuple[Rewrite, ...]]]]:
    """Return the rewritten models in groups of which no two write something else into a file."""
    groups: list[list[tuple[str, tuple[Rewrite, ...]]]] = []
    for name, answer in answers.items():
        if not isinstance(answer, Report) or not answer.rewrites or answer.kept:
            continue
        for group in groups:
            held = {one.path: one.text for _, rewrites in group for one in rewrites}
            if all(held.get(one.path, one.text) == one.text for one in answer.rewrites):
                group.append((name, answer.rewrites))
                break
        else:
            groups.append([(name, answer.rewrites)])
    return groups


def _copied(package: str, folder: Path, texts: Mapping[str, str]) -> None:
    """Make a copy of an installed package whose files are links, but for those with other texts."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return
    source = Path(next(iter(spec.submodule_search_locations))).resolve()
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, folder / package, copy_function=os.symlink, ignore=ignored)
    for path, text in texts.items():
        real = Path(path).resolve()
        if real.is_relative_to(source):
            copy = folder / package / real.relative_to(source)
            copy.unlink()
            copy.write_text(text)


def _diffs(answers: Mapping[str, Answer]) -> Iterator[str]:
    for answer in answers.values():
        if isinstance(answer, Report):
            for one in answer.rewrites:
                yield unified_diff(Path(one.path).read_text(), one.text, shown(one.path))


def counts(functions: Iterable[Function], after: Mapping[str, str]) -> str:
    """Return the last lines."""
    reasons: dict[tuple[str, str], set[str]] = {}
    for one in functions:
        reasons.setdefault((one.path, one.qualname), set()).add(one.reason)
    proven = sum("" in one for one in reasons.values())
    refused = Counter(min(one)[:_SHOWN] for one in reasons.values() if "" not in one)
    lines = [f"{number:4} {reason}" for reason, number in refused.most_common()]
    every = list(functions)
    lines.append(
        f"functions: {proven} of {len(reasons)} rewritten; by model "
        f"{sum(not one.reason for one in every)} of {len(every)}; models that are rewritten: "
        f"{dict(Counter(after.values()))}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
