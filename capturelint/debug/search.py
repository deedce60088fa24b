"""Find the deepest modules to blame: descend where it fails, and test a parent's own lines.

The search knows nothing of torch: it asks a `Judge` and is pure besides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from capturelint.verdict import Verdict


class How(Enum):
    """In what way a module was found to be to blame."""

    WHOLE = "whole"  # it calls no module that could be to blame instead
    OWN = "own"  # its own lines fail, with the modules it calls replaced, or one is to blame
    TOGETHER = "together"  # only together with the modules in `parts`


@dataclass(frozen=True, slots=True)
class Found:
    """One module to blame. `path`: "" is the root. `parts`: called modules that it fails with."""

    path: str
    verdict: Verdict
    how: How
    parts: tuple[str, ...] = ()


class Judge(Protocol):
    """Answers for the modules of one case. Asking the same twice is cheap."""

    def whole(self, path: str) -> Verdict:
        """Return what the module shows when it is captured alone, with all it calls."""

    def called(self, path: str) -> Sequence[str]:
        """Return the modules that it calls itself, in order of first call."""

    def without(self, path: str, replaced: frozenset[str]) -> Verdict:
        """Return what it shows with the modules `replaced` replaced by what they returned."""

    def is_told_by_line(self, path: str, called: Sequence[str]) -> bool:
        """Return whether a line says alone why it fails: one of its own, or one that refuses.

        `called`: the modules that it calls itself.
        """

    def refuses_itself(self, path: str) -> bool:
        """Return whether the module, captured with all it calls, is refused at a line of its own."""

    def is_left_out(self, path: str) -> bool:
        """Return whether the user leaves it out of the capture: it is never to blame."""

    def is_bypassed(self, path: str, called: str) -> bool:
        """Return whether a module calls another one eagerly alone, and not while a stream is captured."""


def search(judge: Judge, root: str, *, first_only: bool = False) -> tuple[Found, ...]:
    """Return all that is to blame under `root`, in order of first call; () where the root passes.

    A module that could not be judged is descended into as well, and none that a capture does not call.
    Those left out are replaced in what calls them. `first_only`: stop at the first.
    """
    found: list[Found] = []

    def is_enough() -> bool:
        return first_only and bool(found)

    def descend(path: str) -> None:
        verdict = judge.whole(path)
        if not _is_open(verdict) or is_enough():
            return
        called = [child for child in judge.called(path) if not judge.is_bypassed(path, child)]
        left_out = [child for child in called if judge.is_left_out(child)]
        open_ = [c for c in called if c not in left_out and _is_open(judge.whole(c))]
        for child in open_:
            descend(child)
        if is_enough():
            return
        blame = _own_blame(judge, path, verdict, called, [*left_out, *open_])
        if blame is not None:
            found.append(blame)

    descend(root)
    return tuple(found)


def _own_blame(
    judge: Judge, path: str, verdict: Verdict, called: Sequence[str], failing: Sequence[str]
) -> Found | None:
    """Return what is to blame of `path` besides the called modules that fail alone, if anything."""
    if not called:
        return Found(path, verdict, How.WHOLE)
    rest = verdict
    if failing:
        rest = judge.without(path, frozenset(failing))
        if not rest.is_failure:
            # What could not be judged can often not be replaced: the refusal names the line even so.
            is_told = rest is Verdict.UNDECIDED and judge.refuses_itself(path)
            return Found(path, verdict, How.OWN) if is_told else None
    own = judge.without(path, frozenset(called))
    if own.is_failure:
        return Found(path, own, How.OWN)
    if own is Verdict.UNDECIDED:
        # The lines cannot be run apart: what is left is to blame the module as a whole.
        return Found(path, rest, How.WHOLE)
    if not rest.is_failure:
        return Found(path, rest, How.WHOLE)
    if judge.is_told_by_line(path, called):
        # What the line does shows in a module that it calls, such as a number that it sets there.
        return Found(path, rest, How.OWN)
    passing = [child for child in called if child not in failing]

    def fails_with(kept: Sequence[str]) -> bool:
        return judge.without(path, frozenset(called) - frozenset(kept)).is_failure

    return Found(path, rest, How.TOGETHER, tuple(smallest(passing, fails_with)))


def smallest(parts: Sequence[str], fails_with: Callable[[Sequence[str]], bool]) -> list[str]:
    """Return a smallest subset of `parts` that still fails: without any one of them it passes.

    `parts` together fail. Halves are tried first, as in delta debugging.
    """
    kept = list(parts)
    size = max(len(kept) // 2, 1)
    while True:
        for start in range(0, len(kept), size):
            fewer = kept[:start] + kept[start + size :]
            if fewer and fails_with(fewer):
                kept = fewer
                break
        else:
            if size == 1:
                return kept
            size = max(size // 2, 1)
            continue
        size = min(size, max(len(kept) // 2, 1))


def _is_open(verdict: Verdict) -> bool:
    """Return whether a module must be looked into."""
    return verdict.is_failure or verdict is Verdict.UNDECIDED
