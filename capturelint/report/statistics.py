"""How often each rule was broken."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult


def render(result: CheckResult) -> str:
    """Return one line for each code that was reported, the most frequent first."""
    counts = Counter((finding.code, finding.name) for finding in result.findings)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = max((len(str(count)) for _, count in ranked), default=0)
    return "\n".join(f"{count:>{width}}  {code}  {name}" for (code, name), count in ranked)
