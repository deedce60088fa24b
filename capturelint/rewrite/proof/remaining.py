"""What is still to blame of a function once it was rewritten, in whole or in part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from capturelint.rewrite.observation import Observation
from capturelint.rewrite.observed import function_named
from capturelint.rewrite.unknown import NEVER_RAN, NO_PATTERN, why_unknown
from capturelint.source import split_lines
from capturelint.verdict import Culprit, Report


def refused_lines(
    culprits: Sequence[Culprit], old: str, new: str, qualname: str, refused: Mapping[str, str]
) -> Iterator[tuple[Culprit, str]]:
    """Yield the culprits in a function whose lines its new text still holds as refused, each with why.

    `refused`: pieces of it that are known to stay, with why.
    """
    path = next((one.place.path for one in culprits if one.place), "")
    facts = function_named(new, path, qualname).facts
    lines = split_lines(new)[facts.first_line - 1 : facts.end_line]
    held = frozenset(line.strip() for line in lines)
    for one in culprits:
        line = _line_of(one, old)
        whys = (why for piece, why in refused.items() if _is_in(line, piece))
        why = next(whys, "") if line in held else ""
        if why:
            yield one, why


def still_blamed(
    report: Report, path: str, text: str, qualname: str, refused: Mapping[str, str]
) -> list[Culprit]:
    """Return what a report blames of a function as `text` has it, but for pieces that are refused."""
    facts = function_named(text, path, qualname).facts
    return [
        one
        for one in report.culprits
        if one.place is not None
        and one.place.path == path
        and facts.first_line <= one.place.line <= facts.end_line
        and not any(_is_in(_line_of(one, text), piece) for piece in refused)
    ]


def untouched(still: Culprit, new: str, culprits: Sequence[Culprit], old: str) -> list[Culprit]:
    """Return the culprits whose line is still to blame as it was.

    None if the line is one that was not to blame, or not of that, or was written anew.
    """
    line = _line_of(still, new)
    return [one for one in culprits if _line_of(one, old) == line and one.effect is still.effect]


def why_stays(culprit: Culprit, old: str, shown: Observation | None) -> str:
    """Return why a line stays that nothing rewrites. `shown`: what its function showed, if that is known."""
    line = culprit.place.line if culprit.place else 0
    if shown is not None and shown.never_ran(line):
        return f"line {line}: {NEVER_RAN}"
    why = why_unknown(culprit, old)
    return f"line {line}: {why}" if why == NO_PATTERN else why


def _is_in(line: str, piece: str) -> bool:
    return line in piece or piece in line


def _line_of(culprit: Culprit, text: str) -> str:
    lines, place = split_lines(text), culprit.place
    return lines[place.line - 1].strip() if place and place.line <= len(lines) else ""
