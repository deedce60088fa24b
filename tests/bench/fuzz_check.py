"""Check thousands of odd sources: no crash, no hang, and the same findings however they are given.

    python -m tests.bench.fuzz_check [--generated 5000] [--mutated 5000] [--batch 50] FOLDER ...

Sources are made up, or cut from files below the FOLDERs and broken. They are checked in batches, in
each scope by turns, then once more with two processes (which a batch of 400 files or more makes use
of) and the files given one by one in another order. `--seed` gives other sources. Prints each batch
that fails, with the folder where its files are kept, and the counts; the exit code is 1 if any failed.
With `--names` a batch is also checked under names that sort the other way round, and those with
other findings are counted: in modules that call each other in circles, what is followed first can
decide what is known.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

from capturelint.config import Config, Scope
from capturelint.lint.engine import check
from capturelint.lint.registry import builtin_rules
from capturelint.lint.result import CheckResult
from tests.bench.fuzz_sources import generated, mutated

_MOST_LINES = 250
# CPU seconds that one file may take. A batch has that and a second for each file, which is plenty.
_TIMEOUT = 10
_ORDER = (Scope.CAPTURED, Scope.STEP, Scope.ALL)

Said = list[tuple[str, int, int, str, str]]


class SlowError(Exception):
    """A check took too long."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the batches and print what failed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--generated", type=int, default=5000)
    parser.add_argument("--mutated", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--names", action="store_true")
    options = parser.parse_args(argv)
    signal.signal(signal.SIGPROF, _raise_slow)
    kept = Path(tempfile.mkdtemp(prefix="fuzzed-"))
    counts: Counter[str] = Counter()
    start = time.process_time()
    sizes = {"generated": options.generated, "mutated": options.mutated}
    for number, (kind, size) in enumerate(_batches(sizes, options.batch)):
        rng = random.Random(f"{options.seed}/{number}")
        sources = batch(rng, kind, size, options.folders)
        problem = problem_of(sources, _ORDER[number % 3], kept / str(number), counts, rng)
        counts[kind] += size
        if options.names and not problem:
            differing = renamed(sources, _ORDER[number % 3], kept / str(number))
            counts["batches with others under other names"] += bool(differing)
        if problem:
            counts["failed batches"] += 1
            print(f"batch {number} ({kind}, {_ORDER[number % 3].value}): {problem}", flush=True)
        else:
            shutil.rmtree(kept / str(number))
    counts["CPU seconds"] = round(time.process_time() - start)
    print(", ".join(f"{name}: {count:,}" for name, count in counts.items()))
    return 1 if counts["failed batches"] else 0


def batch(rng: random.Random, kind: str, size: int, folders: Sequence[Path]) -> list[bytes]:
    """Return sources; `@N@` in them stands for the name of the module with that number."""
    if kind == "generated":
        return [_parsed(rng, lambda: _generated(rng, size)) for _ in range(size)]
    paths = sorted(path for folder in folders for path in folder.rglob("*.py"))
    assert paths, "mutated sources need folders with real ones"

    def made() -> bytes:
        return mutated(rng, _part(rng, paths), _part(rng, paths))

    return [_parsed(rng, made) for _ in range(size)]


def problem_of(
    sources: Sequence[bytes], scope: Scope, kept: Path, counts: Counter[str], rng: random.Random
) -> str:
    """Return what is wrong with the check of a batch, "" for nothing. Files are left in `kept`."""
    folder = _written(kept / "a", sources, _names(sources))
    shuffled = sorted(folder.iterdir())
    rng.shuffle(shuffled)
    try:
        first = said([folder], scope, jobs=1)
        again = said(shuffled, scope, jobs=2)
    except SlowError:
        return f"slow: {', '.join(_slow(folder, scope)) or 'only together'}"
    except Exception:  # noqa: BLE001  # whatever a check raises is what is looked for
        return traceback.format_exc().strip().replace("\n", " | ")
    counts["findings"] += len(first)
    counts["unreadable"] += sum(one[3] == "CL000" for one in first)
    if any(one[3] == "CL001" for one in first):
        return "CL001"
    return "" if first == again else f"differs: {sorted({*first} ^ {*again})[:4]}"


def renamed(sources: Sequence[bytes], scope: Scope, kept: Path) -> Said:
    """Return what is found under one of two orders of names only."""
    names = _names(sources)
    first = said([_written(kept / "a", sources, names)], scope, jobs=1)
    turned = said([_written(kept / "b", sources, names[::-1])], scope, jobs=1)
    back = dict(zip(names[::-1], names, strict=True))
    return sorted({*first} ^ {(back[one[0]], *one[1:]) for one in turned})


def said(paths: Sequence[Path], scope: Scope, *, jobs: int) -> Said:
    """Return module, line, column, code and message of each finding, with modules left out of texts.

    `paths` are one folder, or the files of one.
    """
    folder = paths[0] if paths[0].is_dir() else paths[0].parent
    config = Config(root=folder, preset=(), scope=scope, jobs=jobs)
    signal.setitimer(signal.ITIMER_PROF, _TIMEOUT + len(list(folder.iterdir())))
    try:
        result: CheckResult = check(paths, config, builtin_rules())
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return sorted(
        (
            Path(f.path).stem,
            f.span.line,
            f.span.column,
            f.code,
            re.sub(r"\bm\d{4}\b", "m", f.message),
        )
        for f in result.findings
    )


def _names(sources: Sequence[bytes]) -> list[str]:
    return [f"m{number:04}" for number in range(len(sources))]


def _generated(rng: random.Random, size: int) -> bytes:
    return generated(rng, other=f"@{rng.randrange(size)}@").encode("utf-8", "surrogatepass")


def _parsed(rng: random.Random, made: Callable[[], bytes]) -> bytes:
    """Return a source, four times in five one that Python can read, since the others end early."""
    source = made()
    for _ in range(0 if rng.random() < 0.2 else 12):
        try:
            ast.parse(re.sub(rb"@(\d+)@", b"other", source))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            source = made()
        else:
            break
    return source


def _batches(sizes: Mapping[str, int], batch: int) -> Iterator[tuple[str, int]]:
    for kind, left in sizes.items():
        for start in range(0, left, batch):
            yield kind, min(batch, left - start)


def _written(folder: Path, sources: Sequence[bytes], names: Sequence[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for source, name in zip(sources, names, strict=True):
        data = re.sub(rb"@(\d+)@", lambda found: names[int(found[1])].encode(), source)
        (folder / f"{name}.py").write_bytes(data)
    return folder


def _part(rng: random.Random, paths: Sequence[Path]) -> str:
    """Return some lines of a real file that begin at the left margin."""
    lines = rng.choice(paths).read_text(encoding="utf-8", errors="replace").split("\n")
    starts = [n for n, line in enumerate(lines) if line[:1].isalpha() or line[:1] in "@#"] or [0]
    start = rng.choice(starts)
    head = ["import torch", "from torch import Tensor, nn"] if start else []
    return "\n".join([*head, *lines[start : start + _MOST_LINES]])


def _slow(folder: Path, scope: Scope) -> Iterator[str]:
    """Yield the files of a batch that take too long alone."""
    for path in sorted(folder.glob("*.py")):
        config = Config(root=folder, preset=(), scope=scope, jobs=1)
        signal.setitimer(signal.ITIMER_PROF, _TIMEOUT)
        try:
            check([path], config, builtin_rules())
        except SlowError:
            yield str(path)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)


def _raise_slow(_number: int, _frame: FrameType | None) -> None:
    raise SlowError


if __name__ == "__main__":
    sys.exit(main())
