"""Judge a case again with all that was written for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from capturelint.debug.attempts.part import Part
from capturelint.debug.backend import Backend
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.engine import judge
from capturelint.debug.events import Event, Judged, Said, Started
from capturelint.debug.ledger import Ledger
from capturelint.debug.settings import Settings
from capturelint.rewrite.proof.files import File, finished, rewritten
from capturelint.rewrite.proof.remaining import still_blamed, untouched, why_stays
from capturelint.rewrite.proof.swapping import CannotSwapError
from capturelint.rewrite.proof.trial import Bench
from capturelint.rewrite.proof.whole import Whole
from capturelint.verdict import Culprit, Kept, Report

_AGAIN = "judge what was written"


@dataclass(frozen=True, slots=True)
class Again:
    """The second judgement of a case. `parts`: its callables; `bench`: what runs one, for a step."""

    load: Callable[[], Case]
    backend: Backend
    settings: Settings
    ledger: Ledger
    emit: Callable[[Event], None]
    parts: Mapping[str, Part]
    bench: Callable[[Part, str], Bench]

    def stays(self, files: Mapping[str, File], *, is_partial: bool) -> Iterator[Kept]:
        """Leave as they were the files whose functions differ or are still to blame. Yield what stays.

        `is_partial`: a line that nothing rewrites may be to blame still, where others no longer are.
        """
        self.emit(Said(_AGAIN))
        died = self.ledger.died(_AGAIN)
        if died is not None:
            for file in files.values():
                yield from file.drop(died.why)
            return
        difference = self._difference(files)
        report, why = self._judged(files)
        difference = difference or why
        for path, file in files.items():
            left: list[tuple[Culprit, str]] = []
            reason = difference
            for name in file.done:
                found, why = _left(report, path, file, name, is_partial=is_partial)
                left, reason = left + found, reason or why
            yield from file.drop(reason) if reason else file.leave(left)

    def _difference(self, files: Mapping[str, File]) -> str:
        """Return what tells the case from what it was, around what was written; "" if nothing does."""
        done = [one for file in files.values() for one in file.rewritten]
        is_proven = len(done) == len(self.parts) == 1 and done[0].bench.part.path in self.parts
        benches = [self.bench(part, _AGAIN) for part in self.parts.values()]
        whole = Whole(benches, is_proven=is_proven)
        before = whole.came()
        if any(one.is_unsafe for one in done):
            before = whole.drop_raised(before)

        def new() -> AbstractContextManager[None]:
            return rewritten(files.values())

        difference = whole.gradient_difference(new)
        with new():
            after = whole.came()
        return whole.difference(before, after, new) or difference

    def _judged(self, files: Mapping[str, File]) -> tuple[Report | None, str]:
        """Judge the case with what was written. Return the report, or why there is none."""
        try:
            with finished(files.values()):
                report = judge(self.load, self.backend, self.settings, known={}, emit=self._tell)
        except (CaseError, CannotSwapError) as error:
            # A module that is no new one has no buffers, for example.
            return None, f"made anew, the case does not run: {error}"
        return report, ""

    def _tell(self, event: Event) -> None:
        """Tell that work goes on. What comes of the second run is no outcome of the case."""
        if isinstance(event, Started | Judged):
            self.emit(Started(_AGAIN))


def _left(
    report: Report | None, path: str, file: File, name: str, *, is_partial: bool
) -> tuple[list[tuple[Culprit, str]], str]:
    """Return the culprits of a function that stay though others do not, each with why; or why all do."""
    rewriting, group = file.done[name]
    if report is None:
        return [], ""
    left: list[tuple[Culprit, str]] = []
    for still in still_blamed(report, path, file, name):
        same = untouched(still, file, group)
        if not same:
            return [], f"once rewritten it is still to blame: {still.message.splitlines()[0]}"
        why = why_stays(same[0], file.original, rewriting)
        if not is_partial:
            return [], why
        known = [one for one, _ in left]
        left += [(one, why) for one in same if one not in known]
    is_all = bool(left) and len(left) == len(group)
    return ([], left[0][1]) if is_all else (left, "")
