"""Edit a tree again and again: a check with the cache of before must say what one without it says.

    python -m tests.bench.edit_check TREE [--edits 24] [--seed 0] [--scope captured]

The tree is copied. Each edit changes one function, half of the time one that leads to a finding: a
comment, a read of a parameter, one more parameter, another name, a statement dropped, doubled or
made conditional; or a line above a file, an import dropped, a file dropped; now and then all of a
file is put back. Each is followed by two checks in processes of their own, whose JSON is compared.
Prints each edit after which they differ, and the counts; the exit code is 1 if any did.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

_Function: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef"
_Edit: TypeAlias = Callable[[list[str], _Function, random.Random], None]


@dataclass(slots=True)
class Edited:
    """A copy of a tree in `folder`, and what its files said before they were edited."""

    folder: Path
    scope: str
    rng: random.Random
    findings: list[dict[str, Any]] = field(default_factory=list)
    before: dict[Path, str] = field(default_factory=dict)

    def edit(self) -> str:
        """Change one file. Return what was done, in words."""
        if self.before and self.rng.random() < 0.15:
            path, text = self.before.popitem()
            path.write_text(text, encoding="utf-8")
            return f"{path.name} as it was"
        path, line = self._place()
        text = path.read_text(encoding="utf-8")
        self.before.setdefault(path, text)
        if self.rng.random() < 0.04:
            path.unlink()
            return f"{path.name} dropped"
        lines = text.split("\n")
        name, edit = self.rng.choice(list(_EDITS.items()))
        function = _function(text, line, self.rng)
        if function is None:
            lines.insert(0, "# changed")
            name = "line above all"
        else:
            edit(lines, function, self.rng)
        path.write_text("\n".join(lines), encoding="utf-8")
        return f"{name} in {path.relative_to(self.folder)}:{function.lineno if function else 1}"

    def is_same(self) -> bool:
        """Return whether both checks say the same."""
        cached = self._check("--cache-dir", str(self.folder.parent / "cache"))
        plain = self._check("--no-cache")
        self.findings = json.loads(plain)["findings"]
        return cached == plain

    def _check(self, *options: str) -> bytes:
        command = [sys.executable, "-m", "capturelint", "check", "--exit-zero", "--jobs", "1"]
        options = ("--format", "json", "--scope", self.scope, *options, self.folder.name)
        run = subprocess.run(
            [*command, *options], cwd=self.folder.parent, capture_output=True, check=False
        )
        if run.returncode:
            raise SystemExit(f"a check ended with {run.returncode}: {run.stderr.decode()[-500:]}")
        return run.stdout

    def _place(self) -> tuple[Path, int | None]:
        """Return a file, and the line of a function on the way to a finding, or None."""
        chains = [one["chain"] for one in self.findings if one["chain"]]
        if chains and self.rng.random() < 0.5:
            chain = self.rng.choice(chains)
            step = self.rng.choice(chain)
            path = self.folder.parent / step["path"]
            if path.exists():
                return path, step["line"]
        return self.rng.choice(sorted(self.folder.rglob("*.py"))), None


def _function(text: str, line: int | None, rng: random.Random) -> _Function | None:
    """Return the innermost function that holds `line`, any for None; None where there is none."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return None
    found = [
        one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    if line is not None:
        found = [one for one in found if one.lineno <= line <= (one.end_lineno or 0)][-1:]
    return rng.choice(found) if found else None


def _comment(lines: list[str], function: _Function, rng: random.Random) -> None:
    at = rng.choice(function.body).lineno - 1
    lines.insert(at, f"{_indent(lines[at])}# changed")


def _read(lines: list[str], function: _Function, rng: random.Random) -> None:
    names = [one.arg for one in function.args.args if one.arg != "self"] or ["None"]
    at = function.body[0].lineno - 1
    lines.insert(at, f"{_indent(lines[at])}{rng.choice(names)}.max().item()")


def _parameter(lines: list[str], function: _Function, rng: random.Random) -> None:
    arguments = function.args
    if arguments.vararg or arguments.kwonlyargs or arguments.kwarg or not arguments.args:
        _comment(lines, function, rng)
        return
    ends: list[ast.arg | ast.expr] = [*arguments.args, *arguments.defaults]
    last = max(ends, key=lambda one: (one.end_lineno or 0, one.end_col_offset or 0))
    row, column = (last.end_lineno or 1) - 1, last.end_col_offset or 0
    changed = f", changed_{len(lines)}=None"
    data = lines[row].encode()
    lines[row] = (data[:column] + changed.encode() + data[column:]).decode()


def _rename(lines: list[str], function: _Function, _rng: random.Random) -> None:
    at = function.lineno - 1
    lines[at] = lines[at].replace(f"def {function.name}", f"def {function.name}_changed", 1)


def _drop(lines: list[str], function: _Function, rng: random.Random) -> None:
    one = rng.choice(function.body)
    indent = _indent(lines[one.lineno - 1])
    lines[one.lineno - 1 : one.end_lineno] = [f"{indent}pass"]


def _double(lines: list[str], function: _Function, rng: random.Random) -> None:
    one = rng.choice(function.body)
    lines[one.lineno - 1 : one.lineno - 1] = lines[one.lineno - 1 : one.end_lineno]


def _make_conditional(lines: list[str], function: _Function, rng: random.Random) -> None:
    one = rng.choice(function.body)
    rows = lines[one.lineno - 1 : one.end_lineno]
    head = f"{_indent(rows[0])}if {rng.choice(['torch.is_grad_enabled()', 'self.training'])}:"
    lines[one.lineno - 1 : one.end_lineno] = [head, *(f"    {row}" for row in rows)]


def _import(lines: list[str], _function: _Function, rng: random.Random) -> None:
    found = [at for at, line in enumerate(lines) if line.startswith(("import ", "from "))]
    single = [at for at in found if not lines[at].rstrip().endswith(("(", "\\"))]
    if single:
        del lines[rng.choice(single)]


_EDITS: dict[str, _Edit] = {
    "comment": _comment,
    "read": _read,
    "parameter": _parameter,
    "name": _rename,
    "statement dropped": _drop,
    "statement doubled": _double,
    "statement made conditional": _make_conditional,
    "import dropped": _import,
}


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def main(argv: Sequence[str] | None = None) -> int:
    """Edit and compare."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--edits", type=int, default=24)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scope", default="captured")
    options = parser.parse_args(argv)
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="capturelint-edits-") as place:
        folder = Path(place) / options.tree.name
        ignored = shutil.ignore_patterns("*.so", "__pycache__", ".*")
        shutil.copytree(options.tree, folder, ignore=ignored)
        edited = Edited(folder, options.scope, random.Random(options.seed))
        counts["different"] += not edited.is_same()
        for number in range(options.edits):
            what = edited.edit()
            is_same = edited.is_same()
            counts["edits"] += 1
            counts["different"] += not is_same
            counts["findings"] = len(edited.findings)
            if not is_same:
                print(f"edit {number}, {what}: with and without the cache differ", flush=True)
    print(", ".join(f"{name}: {count:,}" for name, count in counts.items()))
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
