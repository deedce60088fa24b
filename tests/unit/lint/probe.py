"""What the pass over small sources says: kinds of marked expressions, findings, captured functions.

A line that is an expression alone and ends in `#: <facts>` says what is to be known of its value:
its kind, then any of a dtype, `rank N`, `= <constant>`, `weak`, `optional`, `mixed`, `pinned` and
`varies`, or `not weak` and so on.
`#: never runs` says that the line is not evaluated under capture.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from capturelint.config import Config, Scope
from capturelint.kind import Value
from capturelint.lint.discovery import discover
from capturelint.lint.engine import check
from capturelint.lint.linked import Linked
from capturelint.lint.linking import link
from capturelint.lint.registry import builtin_rules
from capturelint.source import line_shift

IMPORTS = "import torch\nfrom torch import Tensor, nn\nfrom torch.nn import functional as F\n"
_MARK = "  #: "
_DEAD = "never runs"
_FLAGS = ("weak", "optional", "mixed", "pinned", "varies")

Seen = dict[str, str]


@dataclass(frozen=True, slots=True)
class Told:
    """What marked lines are known to be, and what their marks want; both by line and text."""

    seen: Seen
    wanted: Seen


def written(folder: Path, files: Mapping[str, str]) -> Path:
    """Write dedented files below `folder`, making folders on the way; return it."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
    return folder


def config_for(folder: Path, **settings: object) -> Config:
    """Return a configuration without presets unless `settings` name them."""
    given = {"preset": (), "jobs": 1, **settings}
    return Config(root=folder, **given)  # type: ignore[arg-type]  # settings are those of Config


def linked(folder: Path, files: Mapping[str, str], **settings: object) -> Linked:
    """Write, read, link and evaluate files, keeping the values of every function."""
    written(folder, files)
    config = config_for(folder, **settings)
    paths, problems = discover([folder], exclude=config.exclude, root=folder)
    return link(paths, problems, config, lambda _n, _t: True, stdin=None, progress=None)


def captured(folder: Path, files: Mapping[str, str], **settings: object) -> set[str]:
    """Return the full names of the captured functions of the given files."""
    found = linked(folder, files, **settings)
    return {found.project.functions[index].full_name for index in found.captured}


def roots(folder: Path, files: Mapping[str, str], **settings: object) -> dict[str, str]:
    """Return the full name of each root and why it is one."""
    found = linked(folder, files, **settings)
    return {found.project.functions[index].full_name: why for index, why in found.roots.items()}


def found(folder: Path, files: Mapping[str, str], **settings: object) -> list[str]:
    """Return `path:line code` of each finding, the path relative to `folder`."""
    written(folder, files)
    result = check([folder], config_for(folder, **settings), builtin_rules())
    assert result.errors == (), "the sources of a test can be analysed"
    return [
        f"{Path(f.path).resolve().relative_to(folder.resolve()).as_posix()}:{f.span.line} {f.code}"
        for f in result.findings
    ]


def extra(folder: Path, text: str, **settings: object) -> list[str]:
    """Return line and code of each finding of `--scope all` in one file; lines are those of `text`.

    The imports of torch are added above it.
    """
    above = IMPORTS.count("\n")
    said = found(folder, {"m.py": IMPORTS + text}, scope=Scope.ALL, **settings)
    places = [place.removeprefix("m.py:").split(" ") for place in said]
    return [f"{int(line) - above} {code}" for line, code in places]


def kinds(
    folder: Path, text: str, others: Mapping[str, str] | None = None, **settings: object
) -> Told:
    """Return what is known of the marked lines of `text`, which becomes the module `m`.

    Its functions `step` and `forward` are roots, beside the modules' own. The imports of torch are
    added.
    """
    settings.setdefault("roots", ("m.step", "m.forward"))
    text = IMPORTS + textwrap.dedent(text)
    run = linked(folder, {"m.py": text, **(others or {})}, **settings)
    lines = text.splitlines()
    wanted = {
        number: line.partition(_MARK)[2]
        for number, line in enumerate(lines, start=1)
        if _MARK in line
    }
    assert wanted, "a source to be asked about has marked lines"
    known = _known(run, text)
    names = {
        number: f"{number}: {lines[number - 1].partition(_MARK)[0].strip()}" for number in wanted
    }
    return Told(
        {names[n]: _said(known.get(n), want) for n, want in wanted.items()},
        {names[n]: want for n, want in wanted.items()},
    )


def _known(run: Linked, text: str) -> dict[int, Value]:
    """Return the value of each line that is an expression alone, where it was evaluated."""
    alone = {
        (node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)
        for statement in ast.walk(ast.parse(text))
        if isinstance(statement, ast.Expr)
        for node in [statement.value]
    }
    known: dict[int, Value] = {}
    for state in run.states():
        function = run.project.functions[state.index]
        if function.file.module != "m":
            continue
        shift = line_shift(function.facts)
        for (line, column, end, end_column), value in state.values.items():
            if (line + shift, column, end + shift, end_column) in alone:
                known[line + shift] = value
    return known


def _said(value: Value | None, want: str) -> str:
    """Return the facts of a value that `want` asks for, or all of them where one is missing."""
    if value is None:
        return _DEAD
    facts = [value.kind.value, value.dtype, f"rank {value.rank}" if value.rank >= 0 else ""]
    facts += [f"= {constant!r}" for constant in value.constant]
    facts += [word for word in _FLAGS if getattr(value, word)]
    facts += [f"not {word}" for word in _FLAGS if not getattr(value, word)]
    asked = want.split(", ")
    is_met = asked[0] == facts[0] and all(fact in facts for fact in asked)
    told = [fact for fact in facts if fact and not fact.startswith("not ")]
    return want if is_met else ", ".join(told)


Ask = Callable[..., Told]
