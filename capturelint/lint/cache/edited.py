"""Files that were touched since a run: what of it changed, and where the rest is now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from capturelint.errors import shown_path
from capturelint.finding import Finding, Span, Step
from capturelint.lint.cache.content import digest
from capturelint.lint.cache.facts import encode
from capturelint.lint.cache.parts import Move, Parts, as_text, from_text, lacks
from capturelint.lint.cache.seen import Held, Seen, held_by
from capturelint.lint.discovery import Problem
from capturelint.lint.files import UnreadableFileError, read_data
from capturelint.lint.files import decode as decoded_text
from capturelint.lint.indexing import index_one
from capturelint.source import SourceFile


class UnplacedError(Exception):
    """A finding, or a step to one, is on a line of which is not known where it went."""


class Edited:
    """The touched files of one run, of which was `seen` what it used. `parts`: as `as_text` made them.

    `changed` are functions of which the code changed that was used, by their places in each file;
    `judged` the files whose comments are to be read anew, `texts` what touched files hold, by path.
    """

    def __init__(self, seen: Seen, parts: str) -> None:
        self._seen = seen
        self._text = parts
        self._parts: dict[str, Parts] | None = None
        self._moves: dict[str, list[Move]] = {}
        self._lines: dict[str, dict[int, int]] = {}
        self._was: dict[str, Parts] = {}
        self.changed: dict[str, list[int]] = {}
        self.judged: set[str] = set()
        self.texts: dict[str, str] = {}

    def as_it_is(self, path: str, held: Held) -> Held | None:
        """Return what a file holds now; None if more of it changed than functions and comments."""
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
        used = self.parts.get(path)
        if used is not None:
            text = _text_of(path, one.digest)
            if text is None or "\f" in text:
                return None
            found = used.found_in(one.result, SourceFile.of(text))
            self._was[path], self.parts[path] = used, found.parts
            self.texts[path] = text
            if found.changed:
                self.changed[path] = found.changed
            if used.is_judged and not (used.is_silent and lacks(text, self._seen.words)):
                self.judged.add(path)
            self._moves[shown_path(path)] = found.moves
        return replace(held, digest=one.digest, stamp=one.stamp)

    @property
    def parts(self) -> dict[str, Parts]:
        """Return what was used of files, as they are now."""
        if self._parts is None:
            self._parts = from_text(self._text)
        return self._parts

    @property
    def has_moved(self) -> bool:
        """Return whether code that was used is on other lines."""
        return any(move.shift for moves in self._moves.values() for move in moves)

    def bend(self, path: str, place: int, lines: Mapping[int, int]) -> None:
        """Note where lines of a changed function went, each counted from its first."""
        before, now = (
            self._was[path].functions[place].first,
            self.parts[path].functions[place].first,
        )
        known = self._lines.setdefault(shown_path(path), {})
        known.update({line + before: to + now for line, to in lines.items()})

    def parts_text(self) -> str:
        """Return what was used of files, on the lines that it is on now."""
        return self._text if self._parts is None else as_text(self._parts)

    def finding(self, finding: Finding) -> Finding:
        """Return a finding on the lines where it is now. Raises `UnplacedError`."""
        chain = tuple(map(self._step, finding.chain))
        if finding.path not in self._moves:
            return finding if chain == finding.chain else replace(finding, chain=chain)
        fix = finding.fix
        if fix is not None:
            edits = (replace(e, span=self._moved(finding.path, e.span)) for e in fix.edits)
            fix = replace(fix, edits=tuple(edits))
        span = self._moved(finding.path, finding.span)
        return replace(finding, span=span, chain=chain, fix=fix)

    def _step(self, step: Step) -> Step:
        if step.path not in self._moves:
            return step
        return replace(step, line=self._line(step.path, step.line))

    def _moved(self, path: str, span: Span) -> Span:
        shift = self._line(path, span.line) - span.line
        return Span(span.line + shift, span.column, span.end_line + shift, span.end_column)

    def _line(self, path: str, line: int) -> int:
        """Return where a line is now."""
        for one in self._moves[path]:
            if one.first <= line <= one.last:
                return line + one.shift
        now = self._lines.get(path, {}).get(line)
        if now is None:
            raise UnplacedError
        return now


def _text_of(path: str, held: str) -> str | None:
    """Return the text of a file, None if it has changed again since it held what `held` says."""
    try:
        data, _ = read_data(Path(path))
    except UnreadableFileError:
        return None
    return decoded_text(data, Path(path)) if digest(data) == held else None
