"""Files that were touched since a run: whether it would find the same, and on which lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from capturelint.errors import shown_path
from capturelint.finding import Finding, Span, Step
from capturelint.lint.cache.content import digest
from capturelint.lint.cache.facts import encode
from capturelint.lint.cache.parts import Move, Parts, as_text, from_text
from capturelint.lint.cache.seen import Held, Seen, held_by
from capturelint.lint.discovery import Problem
from capturelint.lint.files import UnreadableFileError, read_data
from capturelint.lint.files import decode as decoded_text
from capturelint.lint.indexing import index_one
from capturelint.lint.result import CheckResult


class _UnplacedError(Exception):
    """A finding, or a step to one, is on a line of which is not known where it went."""


class Edited:
    """The touched files of one run, of which was `seen` what it used. `parts`: as `as_text` made them.

    `may_move`: whether the findings may be on other lines.
    """

    def __init__(self, seen: Seen, parts: str, *, may_move: bool) -> None:
        self._seen = seen
        self._text = parts
        self._parts: dict[str, Parts] | None = None
        self._may_move = may_move
        self._moves: dict[str, list[Move]] = {}

    def as_it_is(self, path: str, held: Held) -> Held | None:
        """Return what a file holds now, None if that may change what is found."""
        now = held_by(path)
        if now.digest == held.digest:
            return replace(held, stamp=now.stamp)
        if path in self._seen.texts or not held.said:
            return None
        one = index_one((Path(path), held.module, held.is_package))
        said = digest(encode(one.result)[0].encode())
        if said != held.said or isinstance(one.result, Problem):
            return None
        # The facts are the same; code was only used of some functions, and of most files of none.
        used = self._known_parts().get(path)
        if used is not None:
            text = _text_of(path, one.digest)
            found = None if text is None else used.found_in(one.result, text, self._seen.words)
            if found is None:
                return None
            self._known_parts()[path], moves = found
            if any(move.shift for move in moves):
                self._moves[shown_path(path)] = moves
        return replace(held, digest=one.digest, stamp=one.stamp)

    def moved(self, result: CheckResult) -> CheckResult | None:
        """Return what was found with its lines as they are now, None if one cannot be told."""
        if not self._moves:
            return result
        if not self._may_move:
            return None
        try:
            return replace(result, findings=tuple(map(self._finding, result.findings)))
        except _UnplacedError:
            return None

    def parts_text(self) -> str:
        """Return what was used of files, on the lines that it is on now."""
        return self._text if self._parts is None else as_text(self._parts)

    def _known_parts(self) -> dict[str, Parts]:
        if self._parts is None:
            self._parts = from_text(self._text)
        return self._parts

    def _finding(self, finding: Finding) -> Finding:
        chain = tuple(map(self._step, finding.chain))
        moves = self._moves.get(finding.path)
        if moves is None:
            return replace(finding, chain=chain)
        fix = finding.fix
        if fix is not None:
            edits = (replace(edit, span=_moved(moves, edit.span)) for edit in fix.edits)
            fix = replace(fix, edits=tuple(edits))
        return replace(finding, span=_moved(moves, finding.span), chain=chain, fix=fix)

    def _step(self, step: Step) -> Step:
        moves = self._moves.get(step.path)
        return step if moves is None else replace(step, line=step.line + _shift(moves, step.line))


def _moved(moves: Sequence[Move], span: Span) -> Span:
    shift = _shift(moves, span.line)
    return Span(span.line + shift, span.column, span.end_line + shift, span.end_column)


def _shift(moves: Sequence[Move], line: int) -> int:
    """Return how far down a line is now."""
    for one in moves:
        if one.first <= line <= one.last:
            return one.shift
    raise _UnplacedError


def _text_of(path: str, held: str) -> str | None:
    """Return the text of a file, None if it has changed again since it held what `held` says."""
    try:
        data, _ = read_data(Path(path))
    except UnreadableFileError:
        return None
    return decoded_text(data, Path(path)) if digest(data) == held else None
