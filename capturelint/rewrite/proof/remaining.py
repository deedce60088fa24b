"""What is still to blame of a function once it was rewritten, in whole or in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from capturelint.rewrite.observed import function_named
from capturelint.verdict import Culprit, Report


def left_over(culprits: Sequence[Culprit], old: str, new: str, qualname: str) -> list[Culprit]:
    """Return the culprits in a function whose lines its new text still holds."""
    path = next((one.place.path for one in culprits if one.place), "")
    facts = function_named(new, path, qualname).facts
    lines = new.splitlines()[facts.first_line - 1 : facts.end_line]
    held = frozenset(line.strip() for line in lines)
    return [one for one in culprits if _line_of(one, old) in held]


def still_blamed(
    report: Report, path: str, text: str, qualname: str, refused: Mapping[str, str]
) -> str:
    """Return what a report says of a function, "" if it is no longer to blame.

    `refused`: pieces of it that are known to stay, with why.
    """
    facts = function_named(text, path, qualname).facts
    lines = text.splitlines()
    for one in report.culprits:
        place = one.place
        if place is None or place.path != path:
            continue
        line = lines[place.line - 1].strip() if place.line <= len(lines) else ""
        is_known = any(line in piece or piece in line for piece in refused)
        if facts.first_line <= place.line <= facts.end_line and not is_known:
            return f"once rewritten it is still to blame: {one.message.splitlines()[0]}"
    return ""


def _line_of(culprit: Culprit, text: str) -> str:
    lines, place = text.splitlines(), culprit.place
    return lines[place.line - 1].strip() if place and place.line <= len(lines) else ""
