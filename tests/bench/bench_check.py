"""Time `capturelint check` beside `ast.parse` alone and ruff on trees of source.

    python tests/bench/bench_check.py TREE [TREE ...] [--rounds 3] [--torchfix]

Prints, per tree, medians of CPU seconds (user and system, children included) and of wall seconds, the
peak resident memory of one process in MiB, and the ratio of CPU seconds to parsing all files with
`ast.parse`, all measured in one run, turn and turn about: without a cache, with an empty one, with
nothing changed, and after each of four changes: a line above all code of a file with findings, a
comment in a captured function, a tensor read in a captured function that calls others, another
parameter of a captured function that others call; then ruff. Also the size of the cache. The trees
are copied first. With
`--torchfix` also flake8 with TorchFix, from an environment made for it, on every tenth file of the
models, and what that comes to for all lines.
It is no test: nothing here is asserted, since a machine's speed is not ours.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_PARSE = """
import ast, pathlib, sys, warnings
warnings.simplefilter("ignore")
for path in pathlib.Path(sys.argv[1]).rglob("*.py"):
    try:
        ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        pass
"""


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took: CPU and wall seconds, and MiB of memory at its peak."""

    seconds: float
    wall: float
    mebibytes: float


@dataclass(slots=True)
class Bench:
    """One tree, copied to `folder`, and what each kind of run cost, in the order of the rounds."""

    tree: Path
    folder: Path
    options: list[str]
    costs: dict[str, list[Cost]] = field(default_factory=dict)
    output: bytes = b"{}"
    kept: int = 0

    def round(self) -> None:
        """Make one run of each kind."""
        cache = self.folder.parent / "cache"
        shutil.rmtree(cache, ignore_errors=True)
        kept = [*self._check(), "--cache-dir", str(cache)]
        self._run("ast.parse alone", [sys.executable, "-c", _PARSE, self.tree.name])
        self.output = self._run("check, no cache", [*self._check(), "--no-cache"])
        self._run("check, one process", [*self._check(), "--no-cache", "--jobs", "1"])
        self._run("check, empty cache", kept)
        shutil.rmtree(cache)
        self._run("check, empty cache, one process", [*kept, "--jobs", "1"])
        self._run("check, nothing changed", kept)
        for name, change in _CHANGES.items():
            if self._change(change):
                self.output = self._run(f"check, {name}", kept)
        self.kept = sum(path.stat().st_size for path in cache.rglob("*.json"))
        ruff = [sys.executable, "-m", "ruff", "check", "--quiet", "--exit-zero", self.tree.name]
        self._run("ruff, no cache", [*ruff, "--no-cache"])
        ruffs = [*ruff, "--cache-dir", str(self.folder.parent / "ruff")]
        subprocess.run(ruffs, cwd=self.folder.parent, capture_output=True, check=False)
        self._run("ruff, nothing changed", ruffs)

    def table(self) -> Iterator[str]:
        """Yield the lines of the report."""
        found = json.loads(self.output)
        yield (
            f"{self.tree.name}: {found['files']} files, {found['roots']} roots, "
            f"{found['captured_functions']} captured functions, {len(found['findings'])} findings"
        )
        yield f"  the cache takes {self.kept / 2**20:.1f} MiB"
        for name, costs in self.costs.items():
            yield self.line(name, _median(costs))

    def line(self, name: str, cost: Cost) -> str:
        """Return the line of the report about one kind of run."""
        base = _median(self.costs["ast.parse alone"]).seconds
        return (
            f"  {name:42} {cost.seconds:7.2f} CPU s {cost.wall:7.2f} wall s"
            f" {cost.mebibytes:6.0f} MiB {cost.seconds / max(base, 0.01):6.2f} x parse"
        )

    def _check(self) -> list[str]:
        command = [sys.executable, "-m", "capturelint", "check", "--exit-zero", "--format", "json"]
        return [*command, *self.options, self.tree.name]

    def _run(self, name: str, command: Sequence[str]) -> bytes:
        cost, output = run(command, self.folder.parent)
        self.costs.setdefault(name, []).append(cost)
        return output

    def _change(self, change: Callable[[str, int], str | None]) -> bool:
        """Change a function on the way to the first finding that has a caller; False if there is none."""
        findings = json.loads(self.output)["findings"]
        steps = next((f["chain"] for f in findings if len(f["chain"]) > 1), None)
        if steps is None:
            return False
        step = steps[0] if change is _read_more else steps[-1]
        path = self.folder.parent / step["path"]
        text = change(path.read_text(encoding="utf-8"), step["line"])
        if text is None:
            return False
        path.write_text(text, encoding="utf-8")
        # What changed a moment ago is read again by every run.
        time.sleep(2.1)
        return True


def _line_above(text: str, _line: int) -> str:
    return f"# changed\n{text}"


def _comment(text: str, line: int) -> str:
    lines = text.split("\n")
    lines.insert(line - 1, f"{_indent(lines[line - 1])}# changed")
    return "\n".join(lines)


def _read_more(text: str, line: int) -> str | None:
    """Read the last parameter of the function that holds a line, at its beginning."""
    node = _function(text, line)
    names = [argument.arg for argument in node.args.args if argument.arg != "self"]
    if not names:
        return None
    lines = text.split("\n")
    first = node.body[0].lineno - 1
    lines.insert(first, f"{_indent(lines[first])}{names[-1]}.max().item()")
    return "\n".join(lines)


def _parameter(text: str, line: int) -> str | None:
    """Give the function that holds a line one more parameter, with a default."""
    arguments = _function(text, line).args
    if not arguments.args or arguments.vararg or arguments.kwonlyargs or arguments.kwarg:
        return None
    lines = text.split("\n")
    names = [(one.end_lineno or 1, one.end_col_offset or 0) for one in arguments.args]
    defaults = [(one.end_lineno or 1, one.end_col_offset or 0) for one in arguments.defaults]
    at, column = max(names + defaults)
    at -= 1
    name = f"changed_{text.count('changed_')}"
    lines[at] = f"{lines[at][:column]}, {name}=None{lines[at][column:]}"
    return "\n".join(lines)


def _function(text: str, line: int) -> ast.FunctionDef:
    """Return the innermost function that holds a line."""
    holding = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(holding, key=lambda node: node.lineno)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


_CHANGES: dict[str, Callable[[str, int], str | None]] = {
    "lines of findings moved": _line_above,
    "comment in a captured function": _comment,
    "tensor read in a captured function": _read_more,
    "parameter of a called function": _parameter,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("trees", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scope", default="captured")
    parser.add_argument("--torchfix", action="store_true")
    options = parser.parse_args(argv)
    for tree in options.trees:
        with tempfile.TemporaryDirectory(prefix="capturelint-bench-") as place:
            folder = Path(place) / "project" / tree.name
            shutil.copytree(tree, folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
            bench = Bench(tree, folder, ["--scope", options.scope])
            for _ in range(options.rounds):
                bench.round()
            print(*bench.table(), sep="\n", flush=True)
            if options.torchfix:
                print(*_torchfix(bench, Path(place)), sep="\n", flush=True)
    return 0


def run(command: Sequence[str], folder: Path) -> tuple[Cost, bytes]:
    """Run a command in `folder`; return what it cost, its children included, and its output."""
    start = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE)
    assert process.stdout is not None, "its output is a pipe"
    output = process.stdout.read()
    _, _, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    return Cost(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024), output


def _torchfix(bench: Bench, place: Path) -> Iterator[str]:
    """Yield what flake8 with TorchFix costs on every tenth file of a tree's models, and so on all."""
    models = bench.folder / "model_executor" / "models"
    files = sorted((models if models.is_dir() else bench.folder).rglob("*.py"))[::10]
    venv.create(place / "venv", with_pip=True)
    python = str(place / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python")
    subprocess.run([python, "-m", "pip", "install", "-q", "flake8", "torchfix"], check=True)
    flake8 = [python, "-m", "flake8", "--select", "TOR", "--isolated", "-j", "1", "--exit-zero"]
    cost, output = run([*flake8, *map(str, files)], place)
    size, whole = _lines(files), _lines(bench.folder.rglob("*.py"))
    share = whole / max(size, 1)
    yield f"  TorchFix says {output.count(b'TOR')} things of {len(files)} files, {size} lines"
    yield bench.line("TorchFix on these", cost)
    all_of_it = Cost(cost.seconds * share, cost.wall * share, cost.mebibytes)
    yield bench.line(f"at that rate on all {whole} lines", all_of_it)


def _lines(paths: Iterable[Path]) -> int:
    return sum(path.read_bytes().count(b"\n") for path in paths)


def _median(costs: Sequence[Cost]) -> Cost:
    return Cost(
        statistics.median(cost.seconds for cost in costs),
        statistics.median(cost.wall for cost in costs),
        statistics.median(cost.mebibytes for cost in costs),
    )


if __name__ == "__main__":
    sys.exit(main())
