"""The shipped cases about pad rows: their names, and the line that each says is to blame."""

from __future__ import annotations

import re
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "fixtures" / "models"
LEAKING, APART = FOLDER / "pads_leaking.py", FOLDER / "pads_apart.py"
MARK = "# LEAKS"


def names(path: Path) -> list[str]:
    """Return the names of the cases in a file."""
    return re.findall(r"^def (make_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)


def wanted_line(path: Path, name: str) -> int:
    """Return the marked line that comes before the function that makes the case."""
    lines = path.read_text(encoding="utf-8").splitlines()
    start = lines.index(next(line for line in lines if line.startswith(f"def {name}(")))
    marked = [number for number, line in enumerate(lines[:start], 1) if line.endswith(MARK)]
    return marked[-1]
