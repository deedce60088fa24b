"""What an H200 did with each probe of fixtures/probes, and the lines marked in their source."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from capturelint.bundle import bundled

PROBES = bundled("fixtures") / "probes"

MARK = "  # BAD"


@dataclass(frozen=True, slots=True)
class Shown:
    """What a capture of a probe came to.

    `outcome`: `refuses`, `stale` or `ok`; or what else was said. `line`: the one to blame, as in
    the source but for its mark; None where none was measured.
    """

    outcome: str
    line: str | None = None


def rows() -> list[dict[str, Any]]:
    """Return the record, one mapping for each probe."""
    found: list[dict[str, Any]] = json.loads((PROBES / "h200.json").read_text("utf-8"))["probes"]
    return found


def measured(row: Mapping[str, Any], mode: str) -> Shown | None:
    """Return what the GPU did in `mode`, `warm` or `cold`; None where nothing was captured."""
    run = row.get(mode)
    if run is None:
        return None
    if not run["captured"]:
        return Shown("refuses", run["line"] if run["is_culprit"] else None)
    is_equal = {"bit", "close"}.issuperset(run["replays"])
    return Shown("ok" if is_equal else "stale")


def sources() -> dict[str, str]:
    """Return the source of each probe by name, with what it uses of its file."""
    paths = sorted(PROBES.glob("*.py"))
    return {name: text for path in paths for name, text in _sources(path.read_text("utf-8"))}


def marked(source: str) -> list[str]:
    """Return the lines that are to blame, without their mark."""
    lines = (line.strip() for line in source.splitlines())
    return [line.removesuffix(MARK) for line in lines if line.endswith(MARK)]


def _sources(text: str) -> Iterator[tuple[str, str]]:
    lines = text.splitlines()
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    # Whole lines, because the syntax tree knows nothing of a trailing comment.
    texts = {node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in classes}
    for node in classes:
        name = _name(node)
        if name is not None:
            used = [text for other, text in texts.items() if f"{other}()" in texts[node.name]]
            yield name, "\n".join([texts[node.name], *used])


def _name(node: ast.ClassDef) -> str | None:
    """Return the argument of the decorator `named`, if it has one."""
    for decorator in node.decorator_list:
        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "named":
            (argument,) = decorator.args
            return str(ast.literal_eval(argument))
    return None
