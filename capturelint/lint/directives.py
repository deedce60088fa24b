"""Comments addressed to capturelint, such as `# capturelint: eager`, and what is wrong with them."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from capturelint.finding import Span

IGNORE = "ignore"
NOQA = "noqa"
MARKS = ("captured", "eager", "step")

# One that is quoted is spoken of, not used.
_DIRECTIVE = re.compile(r"(?<![`'\"])#\s*(?i:capturelint):\s*(?P<word>[\w-]*)(?P<rest>[^#]*)")
# How the name is written; looking for these is much faster than for any case.
_SPELLINGS = ("apturelint:", "aptureLint:", "APTURELINT:")
# Other tools' codes may begin with these letters too, but go on with more of them.
_OURS = re.compile(r"#\s*noqa\s*:[^#\n]*\bCL[0-9]", re.IGNORECASE)
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_LAYOUT = (tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
# What people write who know another tool, or forgot the word.
_MEANT = {
    IGNORE: "accept allow disable exclude noqa nolint off skip suppress",
    "captured": "capture graph graphed replayed root",
    "step": "each-step hot per-step steps",
    "eager": "host never no-capture no-graph not-captured uncaptured",
}


@dataclass(frozen=True, slots=True)
class Directive:
    """One comment: its first word, what follows it, and whether it stands alone on its line."""

    span: Span
    word: str
    rest: str
    is_alone: bool


def has_comments(text: str) -> bool:
    """Return whether a text may hold comments to capturelint, which are told where they are idle."""
    if names_us(text):
        return True
    # Words are found much faster than the pattern, which few files match.
    has_words = any(word in text for word in ("noqa", "NOQA", "NoQA"))
    return has_words and _OURS.search(text) is not None


def names_us(text: str) -> bool:
    """Return whether a text may address capturelint, in any of the ways to write the name."""
    return any(spelling in text for spelling in _SPELLINGS)


@dataclass(frozen=True, slots=True)
class CommentToken:
    """A comment, and the first line of what ends on its own: a statement, a pair of brackets."""

    line: int
    column: int
    text: str
    first: int


def comment_tokens(lines: Sequence[str]) -> Iterator[CommentToken]:
    """Yield each comment, as far as the text can be read. A string that looks like one is none."""
    source = io.StringIO("\n".join(lines))
    begun: int | None = None  # the line of the statement
    opened: list[int] = []
    closed: tuple[int, int] = (0, 0)  # a line, and the first one of what it closes
    try:
        for token in tokenize.generate_tokens(source.readline):
            line = token.start[0]
            if token.type == tokenize.COMMENT:
                first = closed[1] if closed[0] == line else line
                if begun is not None and not opened:
                    first = begun
                yield CommentToken(line, token.start[1], token.string, first)
            elif token.type == tokenize.NEWLINE:
                begun = None
            elif token.type not in _LAYOUT:
                begun = line if begun is None else begun
                if token.string in _OPENING and token.type == tokenize.OP:
                    opened.append(line)
                elif token.string in _CLOSING and token.type == tokenize.OP and opened:
                    first = opened.pop()
                    closed = (line, min(first, closed[1]) if closed[0] == line else first)
    except (tokenize.TokenError, SyntaxError):
        # The file does not parse either, which is reported as CL000.
        return


def directives_in(comment: str, line: int, column: int, *, is_alone: bool) -> Iterator[Directive]:
    """Yield what a comment, which begins at `column`, says to capturelint."""
    for match in _DIRECTIVE.finditer(comment):
        end = match.start() + len(match[0].rstrip())
        span = Span(line, column + match.start(), line, column + end)
        yield Directive(span, match["word"], match["rest"], is_alone)


def complaint(directive: Directive, marking: Container[int]) -> str:
    """Return what is wrong with a directive, "" for nothing. `marking`: lines of marks in use."""
    word = directive.word
    if word == IGNORE or (word in MARKS and directive.span.line in marking):
        return ""
    if word in MARKS:
        return f"`capturelint: {word}` marks nothing; write it above a `def` or `class`"
    near = _nearest(word.lower())
    hint = (
        f"did you mean `{near}`?"
        if near
        else "write `ignore[CL101]`, `captured`, `eager` or `step`"
    )
    shown = f"`capturelint: {word}` is not understood" if word else "`capturelint:` says nothing"
    return f"{shown}; {hint}"


def _nearest(word: str) -> str:
    """Return the right word in place of a wrong one, "" when it is like none."""
    meant = [right for right, wrong in _MEANT.items() if word in wrong.split()]
    right = "".join(meant or get_close_matches(word, (IGNORE, *MARKS), n=1))
    return "ignore[CL101]" if right == IGNORE else right
