"""What is there to run models with, a line for each piece, and what a missing one takes away."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from capturelint.debug.aids import Aid
from capturelint.report.excerpt import printable


def render(aids: Sequence[Aid], *, versions: str) -> str:
    """Return the pieces as text. `versions`: of capturelint and what it runs in."""
    width = max(len(aid.name) for aid in aids)
    lines = [printable(versions)]
    for aid in aids:
        lines.append(
            f"{aid.name.ljust(width)}  {printable(aid.found or f'missing: {aid.missing}')}"
        )
        if not aid.found and aid.lost:
            lines.append(f"{' ' * width}  without it: {printable(aid.lost)}")
    return "".join(f"{line}\n" for line in [*lines, "", _judged_on(aids)])


def render_json(aids: Sequence[Aid], *, versions: str) -> str:
    """Return the same for programs."""
    content = {"version": 1, "versions": versions, "aids": [asdict(aid) for aid in aids]}
    return f"{json.dumps(content, indent=2)}\n"


def _judged_on(aids: Sequence[Aid]) -> str:
    """Return what `bisect` would use."""
    found = {aid.name for aid in aids if aid.found}
    if "GPU" in found:
        return "`capturelint bisect` judges on the GPU"
    if "simulator" in found:
        return "`capturelint bisect` judges on the simulator"
    return "`capturelint bisect` cannot run here; `capturelint check` can"
