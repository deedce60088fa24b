"""Which rule explains a copy to the device: the copy itself, or the Python values that were copied."""

from __future__ import annotations

import linecache
import re
from dataclasses import replace

from capturelint.debug.dispatched.refusal import Refusal
from capturelint.debug.frames import users_frames

_COPY = "CL202"
# The copy is of one kind to the dispatcher, whatever was written.
_FROM_PYTHON = re.compile(r"(?<!\w)(tensor|as_tensor|asarray|new_tensor)\s*\(")
_MOVED = re.compile(r"\.(to|cuda|copy_|type_as)\s*\(")
_LIST_INDEX = re.compile(r"\w\[[^\]]*(\[|\brange\()")


def rule_of_copy(refusal: Refusal) -> Refusal:
    """Return the refusal with the rule that the line in the user's code speaks for."""
    if refusal.code != _COPY:
        return refusal
    places = users_frames(limit=1)
    line = linecache.getline(places[0].path, places[0].line) if places else ""
    if _FROM_PYTHON.search(line):
        return replace(refusal, code="CL201")
    if not _MOVED.search(line) and _LIST_INDEX.search(line):
        return replace(refusal, code="CL203")
    return refusal
