"""Judge and rewrite classes of a fixture on the simulator, in this process."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capturelint.verdict import Report


def judged(path: Path, name: str, inputs: str) -> Report:
    """Return the report on a class of a file, with what can be written instead."""
    from capturelint.debug import backends
    from capturelint.debug.cases.loading import load
    from capturelint.debug.settings import Settings
    from capturelint.rewrite.proof.judge import judge_and_rewrite

    settings = Settings(backend="simulated")
    backend, _ = backends.chosen(settings)
    make = load(f"{path}:{name}", inputs=f"{path}:{inputs}", settings=settings)
    with backend.session():
        return judge_and_rewrite(make, backend, settings, known={}, emit=lambda _: None)


def classes(text: str) -> dict[str, str]:
    """Return the source of each class of a file by name, with the comment on its first line."""
    lines = text.split("\n")
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
    }
