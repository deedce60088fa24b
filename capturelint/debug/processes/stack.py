"""Read the stack that Python's `faulthandler` printed for a process that crashed or hung."""

from __future__ import annotations

import re

from capturelint.debug.frames import is_users_file
from capturelint.verdict import Place

_HEAD = "(most recent call first):\n"
_FRAME = re.compile(r'  File "(?P<path>.*)", line (?P<line>\d+) in (?P<function>.*)')


def without_stack(output: str) -> str:
    """Return `output` up to the last stack in it, which tells what the places already say."""
    before, head, _ = output.rpartition(_HEAD)
    return before.rpartition("\n")[0] if head else output


def printed_places(output: str) -> tuple[Place, ...]:
    """Return the user's frames of the last stack in `output`, innermost first; () without one."""
    _, head, stack = output.rpartition(_HEAD)
    places = []
    for line in stack.splitlines() if head else ():
        frame = _FRAME.fullmatch(line)
        if frame is None:
            break
        if is_users_file(frame["path"]):
            places.append(Place(frame["path"], int(frame["line"]), frame["function"]))
    return tuple(places)
