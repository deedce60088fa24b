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
from capturelint.rewrite.proof.remaining import still_blamed
from capturelint.rewrite.proof.swapping import CannotSwapError
from capturelint.rewrite.proof.trial import Bench
from capturelint.rewrite.proof.whole import Whole
from capturelint.verdict import Report

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

    def unproven(self, files: Mapping[str, File]) -> Iterator[tuple[File, str]]:
        """Yield the files whose functions differ or are still to blame, each with why."""
        self.emit(Said(_AGAIN))
        died = self.ledger.died(_AGAIN)
        if died is not None:
            yield from ((file, died.why) for file in files.values())
            return
        difference = self._difference(files)
        report, why = self._judged(files)
        difference = difference or why
        for path, file in files.items():
            reasons = [
                still_blamed(report, path, file.finished, name, rewriting.refused) if report else ""
                for name, (rewriting, _) in file.done.items()
            ]
            why = next(filter(None, [difference, *reasons]), "")
            if why:
                yield file, why

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
