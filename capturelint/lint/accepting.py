"""A comment that accepts findings: what it covers, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

from capturelint.finding import Finding, Span
from capturelint.lint.codes import nearest_code
from capturelint.lint.directives import NOQA

_OUR_CODE = re.compile("CL[0-9]+")


@dataclass(slots=True)
class Comment:
    """One comment. It covers `first` to `last`; `codes` is None when it accepts every code.

    `codes` has what is accepted, codes or their beginnings, by what was written. `word` is what it
    begins with, `ignore` or `noqa`. `used` collects which of them have accepted something so far.
    """

    span: Span
    first: int
    last: int
    codes: Mapping[str, str] | None
    reason: str
    word: str
    used: set[str] = field(default_factory=set)

    def accepts(self, finding: Finding) -> bool:
        """Return whether this comment accepts a finding, and remember it."""
        span = finding.span
        if not (self.first <= span.line <= self.last or self.first <= span.end_line <= self.last):
            return False
        if self.codes is None:
            self.used.add(finding.code)
            return True
        matched = [word for word, code in self.codes.items() if finding.code.startswith(code)]
        self.used.update(matched)
        return bool(matched)

    def problems(
        self, active: Collection[str], known: Mapping[str, str], *, require_reason: bool
    ) -> Iterator[str]:
        """Yield what is wrong with the comment itself; one thing at most.

        `active` are the codes that were looked for on its lines, `known` the names of all rules by code.
        """
        if self.word == NOQA:
            yield from self._of_noqa(active, known)
            return
        if self.codes == {}:
            yield "`capturelint: ignore` accepts nothing; write the code as `ignore[CL101]`"
            return
        if self.codes is None and not self.used and active:
            yield "`capturelint: ignore` accepts nothing here"
            return
        given = self.codes or {}
        unknown = [word for word, code in given.items() if not _is_begun(code, known)]
        if unknown:
            yield f"`capturelint: ignore[{unknown[0]}]` names no rule; {_hint(unknown[0], known)}"
            return
        idle = self._idle(given, active)
        if idle:
            yield f"`capturelint: ignore[{', '.join(idle)}]` accepts nothing here"
        elif require_reason and not self.reason:
            yield "`capturelint: ignore` gives no reason; write it after the brackets"

    def _idle(self, given: Mapping[str, str], active: Collection[str]) -> list[str]:
        """Return the words for codes that were looked for, and accepted nothing."""
        return [
            word
            for word, code in given.items()
            if word not in self.used and _is_begun(code, active)
        ]

    def _of_noqa(self, active: Collection[str], known: Mapping[str, str]) -> Iterator[str]:
        """Yield what is wrong with our codes after `noqa:`. Other codes are other tools' business."""
        given = self.codes or {}
        ours = {word: code for word, code in given.items() if _OUR_CODE.fullmatch(code)}
        unknown = [word for word, code in ours.items() if not _is_begun(code, known)]
        if unknown:
            yield f"`noqa: {unknown[0]}` names no rule; {_hint(unknown[0], known)}"
            return
        idle = self._idle(ours, active)
        if idle:
            yield f"`noqa: {', '.join(idle)}` accepts nothing here"


def _hint(word: str, known: Mapping[str, str]) -> str:
    near = nearest_code(word.upper(), sorted(known))
    near = near or "".join(get_close_matches(word.lower(), filter(None, known.values()), n=1))
    return f"did you mean `{near}`?" if near else "`capturelint rule --all` lists them"


def _is_begun(code: str, codes: Iterable[str]) -> bool:
    return any(one.startswith(code) for one in codes)
