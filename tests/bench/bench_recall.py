"""Set the findings of a check beside the lines at which a GPU run saw the host wait.

    capturelint check --format json --output FOUND PACKAGE ...
    python -m tests.bench.bench_recall --record FILE --found FOUND [FOUND ..] --folder FOLDER

The record has one JSON object a line: `name` of a model, `outcome` (ok where its replays were
equal) and `lines_as_if_capturing` (`package/file.py:line source` with counts). FOLDER holds the
packages. A recorded line counts as flagged where a finding touches a statement that holds it. Prints
the share of distinct lines that are flagged, the missed ones with their source, and the findings in
the own modules of models that replayed equal, which are wrong or not reached there.
"""

from __future__ import annotations

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LINE = re.compile(r"(?P<path>.+?\.py):(?P<line>\d+) (?P<source>.*)")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A line of a file below the folder of packages, and its source."""

    path: str
    line: int
    source: str


@dataclass(frozen=True, slots=True)
class Flag:
    """One finding: where it is and what it says."""

    path: str
    line: int
    end_line: int
    text: str


def main(argv: Sequence[str] | None = None) -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--record", type=Path, required=True)
    parser.add_argument("--found", type=Path, nargs="+", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    options = parser.parse_args(argv)
    models = [json.loads(line) for line in options.record.read_text().splitlines()]
    flags = [flag for path in options.found for flag in flags_of(json.loads(path.read_text()))]
    places = sorted({place for model in models for place in places_of(model)})
    missed = [place for place in places if not is_flagged(place, flags, options.folder)]
    print(f"{len(places) - len(missed)} of {len(places)} lines flagged; missed:")
    for place in missed:
        print(f"  {place.path}:{place.line} {place.source}")
    equal = sorted(set(own_modules(models, options.folder)))
    print(f"findings in {len(equal)} modules of models that replayed equal:")
    for flag in sorted(flags, key=lambda flag: (flag.path, flag.line)):
        if flag.path in equal:
            print(f"  {flag.path}:{flag.line} {flag.text}")
    return 0


def places_of(model: Mapping[str, Mapping[str, int] | None]) -> Iterator[Place]:
    """Yield the lines at which a model had the host wait."""
    for text in model["lines_as_if_capturing"] or ():
        found = _LINE.fullmatch(text)
        assert found is not None, f"the record says {text!r}"
        yield Place(found["path"], int(found["line"]), found["source"])


def flags_of(report: Mapping[str, list[dict[str, object]]]) -> Iterator[Flag]:
    """Yield the findings of one report in JSON."""
    for one in report["findings"]:
        line, end_line = int(str(one["line"])), int(str(one["end_line"]))
        yield Flag(str(one["path"]), line, end_line, f"{one['code']} {one['message']}")


def is_flagged(place: Place, flags: Iterable[Flag], folder: Path) -> bool:
    """Return whether a finding touches the simple statement (or the head of one) at a place."""
    first, last = _statement(folder / place.path, place.line)
    return any(f.path == place.path and f.line <= last and first <= f.end_line for f in flags)


def own_modules(models: Iterable[Mapping[str, str]], folder: Path) -> Iterator[str]:
    """Yield the files of models of which every run replayed equal, told by the model's name."""
    told = sorted(_modules(folder), key=lambda found: -len(found[0]))
    outcomes: dict[str, set[str]] = {}
    for model in models:
        name = model["name"].partition("@")[0].removesuffix("_train")
        wanted = re.sub(r"[^a-z0-9]", "", name.rpartition("/")[2])
        path = next((path for word, path in told if wanted.startswith(word)), "")
        outcomes.setdefault(path, set()).add(model["outcome"])
    return (path for path, seen in outcomes.items() if path and seen == {"ok"})


def _modules(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the bare name of each model's module, and its path."""
    for path in (
        *folder.glob("transformers/models/*/modeling_*.py"),
        *folder.glob("timm/models/*.py"),
    ):
        stem = path.stem.removeprefix("modeling_")
        yield re.sub(r"[^a-z0-9]", "", stem), path.relative_to(folder).as_posix()


def _statement(path: Path, line: int) -> tuple[int, int]:
    """Return the first and last line of the innermost statement, or head of one, at a line."""
    best = (line, line)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.stmt):
            body: list[ast.stmt] = getattr(node, "body", [])
            last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
            if node.lineno <= line <= last and not isinstance(node, ast.FunctionDef | ast.ClassDef):
                best = (node.lineno, last)
    return best


if __name__ == "__main__":
    sys.exit(main())
