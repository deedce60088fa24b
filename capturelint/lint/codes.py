"""The codes of findings that no rule makes, with their pages, and the known code nearest to one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class OwnCode:
    """A kind of finding about the check itself, and the page that explains it."""

    code: str
    name: str
    page: str


UNREADABLE = OwnCode(
    "CL000",
    "unreadable-file",
    """\
A file or folder was not checked, because it cannot be read or parsed.

The message says why: bytes that are no text in the declared encoding, syntax that the Python which
runs capturelint does not know, a file over 4 MiB, a broken notebook, a link to nothing. Everything
else is still checked, but what such a file holds or calls is not seen. Neither a comment nor
`ignore` accepts this finding.

## What to do

Mend the file. If it is meant to be that way, such as a template or a test of a parser, leave it out
with `exclude`. For syntax that is newer than your Python, run capturelint with a newer one.""",
)
INTERNAL = OwnCode(
    "CL001",
    "internal-error",
    """\
capturelint itself failed on a part of a file. This is a bug of capturelint, not of your code.

The rest of the run is complete, but nothing is known of the part that the finding names. The exit
code is 3, also with `--exit-zero`. No comment accepts this finding.

## What to do

Please report it, with the message and the lines it points at. Until it is mended, leave the file out
with `exclude`.""",
)
IDLE = OwnCode(
    "CL002",
    "idle-comment",
    """\
A comment addressed to capturelint, or a code of ours after `# noqa:`, has no effect.

It accepts a finding that is not there (any more), names a code that no rule has, is not understood,
or marks nothing because no function or class follows. In a function that the run did not look at, such
as one that is not captured, nothing is known of findings, and a comment may stand. With `require-reason`, an accepted finding
without a reason is reported too.

## What to do

Remove the comment, or write one of these:

- `# capturelint: ignore[CL101] reason` on the line of the finding, or alone above a statement, which
  then covers all of it; `ignore[host-read]` means the same, `ignore[CL1]` accepts all codes that begin
  so, a bare `ignore` every code;
- `# noqa: CL101` on the line of the finding; this and `ignore`, on the last line of a statement or
  of a call, cover all of that. Codes of other tools there, and a bare `# noqa`, which
  accepts every code, are never reported;
- `# capturelint: captured`, `# capturelint: eager` or `# capturelint: step` above a function or class, in its first line, or
  below that and before the body. Blank lines, other comments and decorators may stand between.""",
)
OWN = (UNREADABLE, INTERNAL, IDLE)


def nearest_code(code: str, known: Iterable[str]) -> str:
    """Return the known code most like `code`, the first of several, or "" if none is like it."""

    def likeness(other: str) -> tuple[bool, float]:
        is_same_family = code[:3] == other[:3]
        return is_same_family, SequenceMatcher(None, code, other).ratio()

    near = max(known, key=likeness, default="")
    return near if near and likeness(near)[1] >= 0.6 else ""
