"""Judge a case, then rewrite the functions to blame, and judge it again with what was written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace

from capturelint.debug.attempts.attempt import Tally
from capturelint.debug.attempts.part import Part
from capturelint.debug.backend import Backend
from capturelint.debug.cases.case import Case
from capturelint.debug.engine import judge
from capturelint.debug.events import Event, Said, Started
from capturelint.debug.instance import Current
from capturelint.debug.ledger import Ledger
from capturelint.debug.modules import Modules
from capturelint.debug.outcome import Outcome
from capturelint.debug.paths import is_below
from capturelint.debug.settings import Settings
from capturelint.debug.warmup import CannotRunError, Warm, warmed_up
from capturelint.finding import Effect
from capturelint.rewrite.advice import on_stale
from capturelint.rewrite.allowed import NOTHING, Allowed
from capturelint.rewrite.observed import qualname_at, why_unfit
from capturelint.rewrite.proof.again import Again
from capturelint.rewrite.proof.cost import costs
from capturelint.rewrite.proof.exclusions import Exclusions
from capturelint.rewrite.proof.files import File, check_names, file_at, rewritten
from capturelint.rewrite.proof.function import Rewriting
from capturelint.rewrite.proof.kept import KeptError, kept
from capturelint.rewrite.proof.notes import notes_on
from capturelint.rewrite.proof.remaining import refused_lines, why_stays
from capturelint.rewrite.proof.trial import Bench
from capturelint.verdict import Culprit, Kept, Report, Rewrite

_COST = "count what is computed more"


def judge_and_rewrite(
    load: Callable[[], Case],
    backend: Backend,
    settings: Settings,
    *,
    known: Mapping[str, Outcome],
    emit: Callable[[Event], None],
    allowed: Allowed = NOTHING,
) -> Report:
    """Return the report on a case, with what can be written in place of the lines to blame.

    Runs inside the backend's session. Raises `CaseError` if the case does not run eagerly.
    """
    report = judge(load, backend, settings, known=known, emit=emit)
    culprits = [one for one in report.culprits if one.place is not None and one.place.path]
    if not culprits:
        return report
    ledger = Ledger(known, emit, backend.spent)
    current = Current(load, backend, settings)
    try:
        warm = warmed_up(current, load, backend, settings, Tally())
    except CannotRunError as error:
        return replace(report, kept=tuple(kept(culprits, str(error))))
    modules = Modules(warm, backend, settings, ledger, Tally())
    work = _Work(load, backend, settings, ledger, emit, warm, modules, allowed)
    rewrites, stays = work.done(culprits)
    return replace(report, rewrites=rewrites, kept=stays, suggestions=tuple(work.suggestions))


class _Work:
    """The rewriting of one case."""

    def __init__(
        self,
        load: Callable[[], Case],
        backend: Backend,
        settings: Settings,
        ledger: Ledger,
        emit: Callable[[Event], None],
        warm: Warm,
        modules: Modules,
        allowed: Allowed,
    ) -> None:
        self._allowed = allowed
        self._load = load
        self._backend = backend
        self._settings = settings
        self._ledger = ledger
        self._emit = emit
        self._warm = warm
        self._modules = modules
        self._files: dict[str, File] = {}
        self._kept: list[Kept] = []
        self.suggestions: list[str] = []

    def done(self, culprits: list[Culprit]) -> tuple[tuple[Rewrite, ...], tuple[Kept, ...]]:
        """Return the files that are proven, and the lines that stay, with why."""
        for (path, qualname), group in self._by_function(culprits).items():
            try:
                self._rewrite(path, qualname, group)
            except KeptError as error:
                self._kept += kept(group, str(error))
        if any(file.done for file in self._files.values()):
            self._judge_again()
        if self._allowed.exclude_as:
            self._exclude(culprits, self._allowed.exclude_as)
        rewrites = tuple(self._rewrites())
        # Several modules may run one line.
        return rewrites, tuple(dict.fromkeys(self._kept))

    def _by_function(self, culprits: list[Culprit]) -> dict[tuple[str, str], list[Culprit]]:
        found: dict[tuple[str, str], list[Culprit]] = {}
        for culprit in culprits:
            place = culprit.place
            assert place is not None, "others were left out"
            file = self._file(place.path)
            name = "" if file is None else qualname_at(file.text, place.path, place.line)
            if not name:
                self._kept += kept([culprit], "its source is not in a function of a file")
            else:
                found.setdefault((place.path, name), []).append(culprit)
        return found

    def _file(self, path: str) -> File | None:
        if path not in self._files:
            file = file_at(path)
            if file is None:
                return None
            self._files[path] = file
        return self._files[path]

    def _rewrite(self, path: str, qualname: str, culprits: list[Culprit]) -> None:
        """Rewrite one function in the text of its file. Raises `KeptError`."""
        stale = [one for one in culprits if one.effect is not Effect.REFUSES]
        if stale:
            raise KeptError(on_stale(stale[0]))
        unfit = why_unfit(self._files[path].original, path, qualname)
        if unfit:
            raise KeptError(unfit)
        step = f"rewrite {qualname}"
        died = self._ledger.died(step)
        if died is not None:
            raise KeptError(died.why)
        self._emit(Said(f"rewriting {qualname}"))
        part = self._part(culprits[0].module)
        if part is None or part.varies:
            raise KeptError("what its module receives varies from step to step")
        file = self._files[path]
        bench = self._bench(part, step)
        around = [self._bench(one, step) for one in self._warm.instance.parts.values()]
        blamed = frozenset(one.place.line for one in culprits if one.place)
        rewriting = Rewriting(
            *(path, qualname, file.text, bench, around, file.origins),
            allowed=self._allowed,
            blamed=blamed,
        )
        if not rewriting.run():
            for one in culprits:
                self._kept += kept([one], why_stays(one, file.original, rewriting))
            return
        check_names(rewriting, self._files.values())
        stays: list[Culprit] = []
        for one, why in refused_lines(culprits, file.original, rewriting):
            stays.append(one)
            self._kept += kept([one], why)
        if len(stays) == len(culprits):
            return
        file.text, file.origins = rewriting.text, rewriting.origins
        file.done[qualname] = rewriting, [one for one in culprits if one not in stays]

    def _bench(self, part: Part, step: str) -> Bench:
        return Bench(
            part,
            self._warm.instance,
            self._modules,
            self._backend,
            self._settings,
            lambda: self._emit(Started(step)),
        )

    def _part(self, path: str) -> Part | None:
        """Return a module with what it receives, after recording all on the way to it."""
        root = next((one for one in self._warm.instance.parts if is_below(path, one)), None)
        while root is not None and path not in self._modules.parts:
            root = next((one for one in self._modules.called(root) if is_below(path, one)), None)
        return self._modules.parts.get(path)

    def _judge_again(self) -> None:
        """Judge the case with what was written. Functions that are still to blame stay as they are."""
        again = Again(
            *(self._load, self._backend, self._settings, self._ledger, self._emit),
            parts=self._warm.instance.parts,
            bench=self._bench,
        )
        self._kept += again.stays(self._files, is_partial=self._allowed.partial)

    def _rewritten(self) -> AbstractContextManager[None]:
        """Return a context with all that was written."""
        return rewritten(self._files.values())

    def _exclude(self, culprits: list[Culprit], form: str) -> None:
        """Let the modules run eagerly of which lines stay, or say how that is written."""
        exclusions = Exclusions(
            self._warm, self._ledger, self._emit, self._part, self._bench, self._rewritten
        )
        texts = {one.path: self._file(one.path) for one in exclusions.classes(culprits, self._kept)}
        there = {path: file.text for path, file in texts.items() if file is not None}
        self._kept = exclusions.kept(there, form)
        self.suggestions += exclusions.suggestions
        places = exclusions.places
        for path, text in exclusions.texts.items():
            file = self._files[path]
            file.before, file.text, file.notes = file.text, text, exclusions.notes
            file.excluded, places = places, ()

    def _costs(self, done: list[Rewriting]) -> Iterator[str]:
        """Yield what the functions of a file compute more than they did."""
        wasteful = [one for one in done if one.computes]
        if wasteful and not self._ledger.died(_COST):
            self._emit(Said("counting what is computed more"))
            parts = self._warm.instance.parts.values()
            benches = [self._bench(part, _COST) for part in parts]
            yield from costs(wasteful, benches, self._rewritten)

    def _rewrites(self) -> Iterator[Rewrite]:
        for path, file in self._files.items():
            places = tuple(
                one.place for _, group in file.done.values() for one in group if one.place
            )
            places = tuple(dict.fromkeys((*places, *file.excluded)))
            if places or file.notes:
                done = file.rewritten
                notes = (*notes_on(done, self._backend.name), *self._costs(done), *file.notes)
                yield Rewrite(path, file.held, file.finished, places, notes)
