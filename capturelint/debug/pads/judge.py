"""Answers about pad rows as the search asks for them: which modules let them into real rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

from capturelint.debug.attempts.part import Part
from capturelint.debug.attempts.refused import first_line
from capturelint.debug.attempts.replaced import StandInError
from capturelint.debug.ledger import Ledger
from capturelint.debug.outcome import Outcome
from capturelint.debug.pads.apart import moved_apart
from capturelint.debug.pads.batch import Batch, NoRowsError
from capturelint.debug.pads.calls import with_real_rows
from capturelint.debug.pads.families import Family, called_families
from capturelint.debug.pads.ground import CannotRunPadsError, Ground
from capturelint.debug.pads.outcomes import judged_by, leak, undecided
from capturelint.debug.pads.references import References
from capturelint.debug.pads.trials import Trial, trials, trials_beside
from capturelint.errors import CapturelintError
from capturelint.verdict import Verdict

_WITHOUT_ROWS = "no output has a batch dimension: what could be a real row of it is not known"


class PadJudge:
    """Judges one callable and the modules it calls. `batch`: of it, or why there is none.

    `outcomes`: what was judged so far, by path. `families`: the runs that they were judged on.
    `parents`: by path, the module that calls it. `notes`: what the user must know.
    """

    def __init__(
        self, part: Part, batch: Callable[[], Batch], ground: Ground, ledger: Ledger
    ) -> None:
        self._part = part
        self._batch = batch
        self._ground = ground
        self._ledger = ledger
        self._called: dict[str, tuple[str, ...]] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.families: dict[str, Family] = {}
        self.parents: dict[str, str] = {}
        self.notes: list[str] = []
        self.references = References(part.path, self.families, ground, self.notes)

    @property
    def root(self) -> str:
        """Return the path of the callable."""
        return self._part.path

    def whole(self, path: str) -> Verdict:
        """Return whether real rows that a module returns or keeps move with the pad rows."""
        if path not in self.outcomes:
            is_root = path == self._part.path
            self.outcomes[path] = self._root() if is_root else self._inside(path)
        return self.outcomes[path].verdict

    def called(self, path: str) -> Sequence[str]:
        """Return the modules that it calls itself. Costs recordings of it."""
        if path not in self._called:
            self._called[path] = self._recorded(path)
        return self._called[path]

    def without(self, path: str, replaced: frozenset[str]) -> Verdict:
        """Return what its lines do, with these modules replaced by what they return in clean rows."""
        if not replaced:
            return self.whole(path)
        step = f"pad-own {path} without {' '.join(sorted(replaced))}"
        work = partial(self._apart, path, replaced)
        return self._ledger.outcome(step, partial(judged_by, work)).verdict

    def is_told_by_line(self, path: str, called: Sequence[str]) -> bool:  # noqa: ARG002 - as the search asks
        """Return True: what no module inside does alone is the work of the lines that call them."""
        return True

    def refuses_itself(self, path: str) -> bool:  # noqa: ARG002 - as the search asks
        """Return False: nothing is captured here."""
        return False

    def is_left_out(self, path: str) -> bool:  # noqa: ARG002 - as the search asks
        """Return False: pad rows go through what is not captured too."""
        return False

    def is_bypassed(self, path: str, called: str) -> bool:  # noqa: ARG002 - as the search asks
        """Return False: nothing is captured here."""
        return False

    def _root(self) -> Outcome:
        try:
            batch = self._batch()
        except NoRowsError as error:
            return undecided(str(error))
        tried = [(self._outcome(batch, one), one) for one in trials(batch)]
        leaks = [(outcome, one) for outcome, one in tried if outcome.verdict is Verdict.PADS]
        if not leaks:
            told = [
                outcome
                for outcome, one in tried
                if one.is_whole or not self._is_telling_nothing(outcome, one)
            ]
            leaks = list(self._leaks_beside(batch))
        if not leaks:
            return min(told, key=lambda one: one.verdict.rank)
        # What finite values show is no matter of NaN alone, and half a batch shows most.
        first, trial = leaks[0]
        names = tuple(dict.fromkeys(one.name for _, one in leaks))
        family = self._family(batch, trial)
        if family is not None:
            self.families[batch.part.path] = family
            self._learn(family)
        return replace(first, evidence=replace(first.evidence, fills=names))

    def _outcome(self, batch: Batch, trial: Trial) -> Outcome:
        step = f"pad {batch.part.path} with {trial.name}, {trial.rows.pads} pad rows"
        self._ledger.say(f"pad rows hold {trial.name}: {trial.rows}")
        work = self._tried_beside if trial.beside else self._tried
        return self._ledger.outcome(step, partial(judged_by, partial(work, batch, trial)))

    def _leaks_beside(self, batch: Batch) -> Iterator[tuple[Outcome, Trial]]:
        """Yield what leaks only next to real rows that are alike. What cannot be run tells nothing."""
        # An odd dtype may lack what makes such rows.
        with suppress(RuntimeError):
            for trial in trials_beside(batch):
                outcome = self._outcome(batch, trial)
                if outcome.verdict is Verdict.PADS:
                    yield outcome, trial

    def _is_telling_nothing(self, outcome: Outcome, trial: Trial) -> bool:
        """Return whether rows put together of several tell nothing: no server may hold such."""
        if outcome.verdict is not Verdict.UNDECIDED:
            return False
        note = f"pad rows that hold {trial.name} are left out: {outcome.why}"
        if note not in self.notes:
            self.notes.append(note)
        return True

    def _learn(self, family: Family) -> None:
        """Find out again what of the state real rows read: the outcome may be of another process."""
        try:
            self.references.moved(family)
        except CannotRunPadsError as error:
            self.notes.append(f"what the next step reads is not known: with pad rows it {error}")

    def _tried(self, batch: Batch, trial: Trial) -> Outcome:
        family = self._family(batch, trial)
        if family is None:
            return Outcome(Verdict.NOT_CALLED)
        try:
            reference = self.references.of(family)
        except CannotRunPadsError as error:
            return undecided(f"without pad rows it {error}")
        try:
            found = self.references.moved(family)
        except CannotRunPadsError as error:
            return undecided(f"with {trial.name} in the pad rows it {error}")
        if found.difference is None and not reference.has_rows():
            return undecided(_WITHOUT_ROWS)
        return leak(found, family.rows, trial.name)

    def _tried_beside(self, batch: Batch, trial: Trial) -> Outcome:
        """Return PADS if that is sure, by runs of these real rows alone, else EQUAL.

        A first look, at results and single numbers, costs two runs.
        """
        passed = Outcome(Verdict.EQUAL)
        family = self._family(batch, trial)
        usual = self._family(batch, next(trials(batch)))
        if family is None or usual is None:
            return passed
        ground, part = self._ground, family.part
        try:
            reference = self.references.of(usual).on(ground.left(part, family.base))
            if not reference.may_move(ground.left(part, family.filled)):
                return passed
            outcome = leak(self.references.moved(family), family.rows, trial.name)
        except CannotRunPadsError:
            return passed
        return outcome if outcome.verdict is Verdict.PADS else passed

    def _family(self, batch: Batch, trial: Trial) -> Family | None:
        part, axes, rows = trial.part, batch.axes, trial.rows
        (call,), (stale,) = part.steps[:2]
        pads = trial.pads()
        if pads is None:
            return None
        probe = with_real_rows(call, part.run, axes, 1, stale)
        others = self.references.fewer(trial.beside).calls(replace(batch, part=part), rows)
        runs = replace(part, steps=((call,), (pads,), (probe,)))
        return Family(runs, rows, ((pads,),), others, rows.real, (axes,), beside=trial.beside)

    def _inside(self, path: str) -> Outcome:
        family = self.families[path]
        if family.why:
            return undecided(family.why)

        def work() -> Outcome:
            try:
                found = self.references.moved(family)
            except CannotRunPadsError as error:
                return undecided(f"alone it {error}")
            return leak(found, family.rows, None)

        return self._ledger.outcome(f"pad {path}", lambda: judged_by(work))

    def _recorded(self, path: str) -> tuple[str, ...]:
        family = self.families.get(path)
        step = f"pad-record {path}"
        died = self._ledger.died(step)
        if family is None or family.why:
            return ()
        if died is not None:
            why = "the process died while what it calls was recorded: where pad rows come in is unknown"
            self.notes.append(f"pad rows: {path or 'the case'}: {why}")
            if path == self._part.path:
                self.outcomes[path] = undecided(why)
            return ()
        with self._ledger.timed(step):
            try:
                found = called_families(family, self._ground)
            except CapturelintError:
                raise
            except Exception as error:  # noqa: BLE001 - odd values may break what copies all others
                self.notes.append(
                    f"what {path or 'the root'} calls could not be recorded: {first_line(error)}"
                )
                return ()
        for name, one in found.items():
            self.families.setdefault(name, one)
            self.parents.setdefault(name, path)
        return tuple(found)

    def _apart(self, path: str, replaced: frozenset[str]) -> Outcome:
        family = self.families[path]
        children = {name: self.families[name] for name in replaced}
        try:
            found = moved_apart(family, children, self.references.of(family), self._ground)
        except (CannotRunPadsError, StandInError) as error:
            return undecided(str(error))
        return leak(found, family.rows, None)
