"""What is still to blame of a function once it was rewritten, in whole or in part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from capturelint.rewrite.observed import function_named
from capturelint.rewrite.origins import Piece
from capturelint.rewrite.proof.files import File
from capturelint.rewrite.proof.function import Rewriting
from capturelint.rewrite.unknown import IN_LAMBDA, NEVER_RAN, NO_PATTERN, why_unknown
from capturelint.source import split_lines
from capturelint.verdict import Culprit, Report


def refused_lines(
    culprits: Sequence[Culprit], old: str, rewriting: Rewriting
) -> Iterator[tuple[Culprit, str]]:
    """Yield the culprits in a function whose lines its new text still holds as refused, each with why.

    `old`: the file as it was.
    """
    new = split_lines(rewriting.text)
    for one in culprits:
        number = one.place.line if one.place else 0
        lines = (line for line, at in zip(new, rewriting.origins, strict=True) if at == number)
        whys = (_why_refused(line, number, old, rewriting.refused) for line in lines)
        if why := next(filter(None, whys), ""):
            yield one, why


def still_blamed(report: Report, path: str, file: File, qualname: str) -> list[Culprit]:
    """Return what a report blames of a function as its file has it, but for pieces that are refused."""
    facts = function_named(file.finished, path, qualname).facts
    rewriting, _ = file.done[qualname]
    return [
        one
        for one in report.culprits
        if one.place is not None
        and one.place.path == path
        and facts.first_line <= one.place.line <= facts.end_line
        and not _why_refused(
            _line(file.finished, one.place.line),
            file.finished_origins[one.place.line - 1],
            file.original,
            rewriting.refused,
        )
    ]


def untouched(still: Culprit, file: File, culprits: Sequence[Culprit]) -> list[Culprit]:
    """Return the culprits whose line is still to blame as it was.

    None if the line is one that was not to blame, or not of that, or was written anew.
    """
    assert still.place is not None, "others are not asked about"
    line = _line(file.finished, still.place.line)
    origin = file.finished_origins[still.place.line - 1]
    if line != _line(file.original, origin):
        return []
    return [
        one
        for one in culprits
        if one.place is not None and one.place.line == origin and one.effect is still.effect
    ]


def why_stays(culprit: Culprit, old: str, rewriting: Rewriting) -> str:
    """Return why a line stays that nothing rewrites. `old`: the file as it was."""
    line = culprit.place.line if culprit.place else 0
    if culprit.place is not None and culprit.place.function.endswith("<lambda>"):
        return f"line {line}: {IN_LAMBDA}"
    shown, lines = rewriting.shown, enumerate(rewriting.began, start=1)
    if shown is not None and any(shown.never_ran(at) for at, before in lines if before == line):
        return f"line {line}: {NEVER_RAN}"
    why = why_unknown(culprit, old)
    return f"line {line}: {why}" if why == NO_PATTERN else why


def _why_refused(line: str, origin: int, old: str, refused: Mapping[Piece, str]) -> str:
    """Return why a line stays that stood at `origin` of the old file; "" if no refused piece is on it."""
    is_as_it_was = line.strip() == _line(old, origin)
    whys = {
        (one.last - one.first, len(one.text)): why
        for one, why in refused.items()
        if one.first <= origin <= one.last and (is_as_it_was or one.text in line)
    }
    # Of pieces around each other the innermost says most of a line.
    return whys[min(whys)] if whys else ""


def _line(text: str, number: int) -> str:
    lines = split_lines(text)
    return lines[number - 1].strip() if number <= len(lines) else ""
