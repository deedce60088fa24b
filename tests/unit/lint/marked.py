"""The marks that small sources get: what their replays leave out."""

from __future__ import annotations

import textwrap
from pathlib import Path

from capturelint.source import line_shift
from tests.unit.lint.probe import IMPORTS, linked


def marked(folder: Path, text: str) -> list[str]:
    """Return the mark and the line of each marked place; `step` and each `forward` are roots."""
    text = IMPORTS + textwrap.dedent(text)
    run = linked(folder, {"m.py": text}, roots=("m.step",))
    lines = text.splitlines()
    found = []
    for state in run.states():
        shift = line_shift(run.project.functions[state.index].facts)
        for span, mark in state.marks.items():
            # A place in code that does not run in each capture is not reported.
            if span in state.values:
                found.append((span[0] + shift, mark.name))
    return [f"{name} {lines[line - 1].strip()}" for line, name in sorted(found)]
