"""Rules of the user's own that raise: one line that names the place in the rule's file."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from capturelint.bundle import bundled
from capturelint.errors import FailingRuleError
from capturelint.rule import Rule


@contextmanager
def blaming(rules: Iterable[type[Rule]]) -> Iterator[None]:
    """Turn what a rule raises into a `FailingRuleError`, unless the rule came with capturelint."""
    try:
        yield
    except (Exception, SystemExit) as error:
        own = {path for rule in rules for path in [_file_of(rule)] if path}
        place = None if isinstance(error, RecursionError) else line_in(error, own)
        if place is None:
            raise
        raise FailingRuleError(*place, one_line(error)) from error


def line_in(error: BaseException, files: Collection[str]) -> tuple[str, int] | None:
    """Return the deepest place in some files that an error came through, None if in none."""
    place = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in files:
            place = trace.tb_frame.f_code.co_filename, trace.tb_lineno
        trace = trace.tb_next
    return place


def one_line(error: BaseException) -> str:
    """Return the type of an error and what it says."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _file_of(rule: type[Rule]) -> str | None:
    """Return the file of a rule of the user's own."""
    path = getattr(sys.modules.get(rule.__module__), "__file__", None)
    return None if path is None or Path(path).parent == bundled("rules") else path
