"""Which processes of a session are left."""

from __future__ import annotations

import time
from pathlib import Path


def left_in_session(number: int, *, within: float = 5.0) -> list[str]:
    """Return the command lines of what still runs in a session after `within` seconds."""
    end = time.monotonic() + within
    while found := _in_session(number):
        if time.monotonic() > end:
            return found
        time.sleep(0.02)
    return []


def _in_session(number: int) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            # After the name, which may hold anything: state, parent, group, session.
            fields = (entry / "stat").read_text(encoding="utf-8").rpartition(") ")[2].split()
            if int(fields[3]) == number and fields[0] != "Z":
                found.append((entry / "cmdline").read_text(encoding="utf-8"))
        except OSError:  # it ended meanwhile
            continue
    return found
