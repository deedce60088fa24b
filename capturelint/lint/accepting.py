"""A comment that accepts findings: what it covers, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from capturelint.finding import Finding, Span
from capturelint.lint.codes import nearest_code
from capturelint.lint.directives import NOQA

_OUR_CODE = re.compile("CL[0-9]+")


@dataclass(slots=True)
class Comment:
    """One comment. It covers `first` to `last`; `codes` is None when it accepts every code.

    `word` is what it begins with, `ignore` or `noqa`. `used` collects what it has accepted so far.
    """

    span: Span
    first: int
    last: int
    codes: tuple[str, ...] | None
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
        matched = [code for code in self.codes if finding.code.startswith(code)]
        self.used.update(matched)
        return bool(matched)

    def problems(
        self, active: Collection[str], known: Collection[str], *, require_reason: bool
    ) -> Iterator[str]:
        """Yield what is wrong with the comment itself; one thing at most.

        `active` are the codes that were looked for on its lines, `known` those of all rules.
        """
        if self.word == NOQA:
            yield from self._of_noqa(active, known)
            return
        if self.codes == ():
            yield "`capturelint: ignore` accepts nothing; write the code as `ignore[CL101]`"
            return
        if self.codes is None and not self.used and active:
            yield "`capturelint: ignore` accepts nothing here"
            return
        unknown = [code for code in self.codes or () if not _is_begun(code, known)]
        if unknown:
            yield f"`capturelint: ignore[{unknown[0]}]` names no rule; {_hint(unknown[0], known)}"
            return
        idle = [
            code for code in self.codes or () if code not in self.used and _is_begun(code, active)
        ]
        if idle:
            yield f"`capturelint: ignore[{', '.join(idle)}]` accepts nothing here"
        elif require_reason and not self.reason:
            yield "`capturelint: ignore` gives no reason; write it after the brackets"

    def _of_noqa(self, active: Collection[str], known: Collection[str]) -> Iterator[str]:
        """Yield what is wrong with our codes after `noqa:`. Other codes are other tools' business."""
        ours = [code for code in self.codes or () if _OUR_CODE.fullmatch(code)]
        unknown = [code for code in ours if not _is_begun(code, known)]
        if unknown:
            yield f"`noqa: {unknown[0]}` names no rule; {_hint(unknown[0], known)}"
            return
        idle = [code for code in ours if code not in self.used and _is_begun(code, active)]
        if idle:
            yield f"`noqa: {', '.join(idle)}` accepts nothing here"


def _hint(code: str, known: Collection[str]) -> str:
    near = nearest_code(code, sorted(known))
    return f"did you mean `{near}`?" if near else "`capturelint rule --all` lists them"


def _is_begun(code: str, codes: Iterable[str]) -> bool:
    return any(one.startswith(code) for one in codes)
