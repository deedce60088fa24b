"""Which functions of a file may hold a capture site, told by its text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from capturelint.lint.drafts import Draft
from capturelint.source import split_lines

_SITE = re.compile(
    r"\bgraph\(|make_graphed_callables\(|capture_begin\(|reduce-overhead|max-autotune|[\"']cudagraphs[\"']"
)
_SITE_WORDS = (
    "cudagraphs",
    "graph(",
    "make_graphed_callables(",
    "capture_begin(",
    "reduce-overhead",
    "max-autotune",
)
_SITE_PARTS = ("graph", "capture_begin(", "-overhead", "-autotune")


def has_site(text: str) -> bool:
    """Return whether a file may hold a capture site."""
    # Words are found much faster than the pattern, which few files match; most files hold none of the parts.
    return (
        any(part in text for part in _SITE_PARTS)
        and any(word in text for word in _SITE_WORDS)
        and _SITE.search(text) is not None
    )


def mark_sites(text: str, drafts: Sequence[Draft], graph: str) -> bool:
    """Mark the functions whose text may hold a capture site; return whether other code may too.

    `graph` is what the file calls `torch.cuda.graph`.
    """
    source = split_lines(text)
    call = f"{graph}("
    lines = [n for n, line in enumerate(source, 1) if call in line or _SITE.search(line)]
    others = _marked(drafts, lines)
    return _mark_callers(source, drafts) or bool(others)


def _mark_callers(source: Sequence[str], drafts: Sequence[Draft]) -> bool:
    """Mark functions that call one with a site, which may capture what it is given."""
    holders = {d.node.name for d in drafts if d.has_site and d.owner < 0 and d.parent < 0}
    if not holders:
        return False
    called = re.compile(rf"\b(?:{'|'.join(sorted(holders))})\(")
    lines = [n for n, line in enumerate(source, 1) if called.search(line) and "def " not in line]
    names = {draft.node.name for draft in drafts} - holders
    given = re.compile(rf"\b(?:lambda|partial|{'|'.join(sorted(names)) or 'lambda'})\b")
    return any(given.search(source[line - 1]) for line in _marked(drafts, lines))


def _marked(drafts: Sequence[Draft], lines: list[int]) -> list[int]:
    """Mark the outermost functions that hold some of the lines; return the lines in none."""
    for draft in drafts:
        end = draft.node.end_lineno or 0
        inside = [line for line in lines if draft.node.lineno <= line <= end]
        draft.has_site = draft.has_site or bool(inside)
        lines = [line for line in lines if line not in inside]
    return lines
