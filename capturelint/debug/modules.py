"""Judge the modules of one case: record what they receive, capture each alone, keep the outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from fnmatch import fnmatchcase

from capturelint.debug.attempts.attempt import Tally, attempt
from capturelint.debug.attempts.died import unless_lost
from capturelint.debug.attempts.differs import outside
from capturelint.debug.attempts.part import Part
from capturelint.debug.attempts.recording import Level, record
from capturelint.debug.attempts.refused import first_line
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.backend import Backend
from capturelint.debug.bypassed import Bypassed
from capturelint.debug.instance import modes_of
from capturelint.debug.ledger import Ledger
from capturelint.debug.outcome import Outcome
from capturelint.debug.paths import is_below, is_part
from capturelint.debug.settings import Settings
from capturelint.debug.states.causes import lines_run
from capturelint.debug.warmup import Warm
from capturelint.errors import CapturelintError
from capturelint.finding import Effect
from capturelint.verdict import Hazard, Place, Verdict

_MIB = 1 << 20


class Modules:
    """The answers about the modules of a warm instance, as the search asks for them.

    Every attempt starts from its state after the warm-up. `parts`: those known so far. `notes`:
    what the user must know about the recordings. `hazards`: of all callables. `closed`: those that
    stand for all that they call. `bypassed`: those that captures do not call, once that is known.
    """

    def __init__(
        self,
        warm: Warm,
        backend: Backend,
        settings: Settings,
        ledger: Ledger,
        tally: Tally,
    ) -> None:
        self._instance = warm.instance
        self._warm = warm
        self._backend = backend
        self._settings = settings
        self._ledger = ledger
        self._tally = tally
        self._called: dict[str, tuple[str, ...]] = {}
        self.parts: dict[str, Part] = dict(warm.instance.parts)
        self.outcomes: dict[str, Outcome] = {}
        self.apart: dict[str, Outcome] = {}
        self.replaced: dict[str, frozenset[str]] = {}
        self.notes: list[str] = []
        self.hazards: tuple[Hazard, ...] = ()
        self.closed: set[str] = set()
        self.bypassed = Bypassed((), dict)

    def whole(self, path: str) -> Verdict:
        """Return what the module shows when it is captured alone."""
        if path not in self.outcomes:
            self.outcomes[path] = self._ledger.outcome(
                f"judge {path}", lambda: self._attempt(path, frozenset())
            )
        return self.outcomes[path].verdict

    def without(self, path: str, replaced: frozenset[str]) -> Verdict:
        """Return what it shows with these modules replaced by what they returned.

        What its own lines came to, with most of what it calls replaced, is kept in `apart`.
        """
        if not replaced:
            return self.whole(path)
        outcome = self._ledger.outcome(
            f"own {path} without {' '.join(sorted(replaced))}",
            lambda: self._attempt(path, replaced),
        )
        if outcome.verdict.is_failure:
            self.apart[path], self.replaced[path] = outcome, replaced
        return outcome.verdict

    def is_told_by_line(self, path: str, called: Sequence[str]) -> bool:
        """Return whether the line to blame refuses, or runs though all it calls is replaced."""
        outcome = self.apart.get(path) or self.outcomes[path]
        if not outcome.places or outcome.died:
            return outcome.died  # where it dies is looked for in another way
        if outcome.verdict is Verdict.REFUSES:
            return True
        try:
            as_if = self._backend.as_if_capturing(lambda: path)
            with as_if if outcome.verdict is Verdict.DIFFERS else nullcontext():
                return self._runs_line(path, frozenset(called), outcome.places[0])
        except CapturelintError:
            raise
        except Exception:  # noqa: BLE001 - what cannot be run apart has no lines of its own
            return False

    def refuses_itself(self, path: str) -> bool:
        """Return whether its capture alone was refused at a line that the dry pass saw refuse in it."""
        outcome = self.outcomes[path]
        own = {
            (one.place.path, one.place.line)
            for one in self.hazards
            if one.module == path and one.effect is Effect.REFUSES
        }
        is_refused = outcome.verdict is Verdict.REFUSES
        return is_refused and any((one.path, one.line) in own for one in outcome.places[:1])

    def called(self, path: str) -> Sequence[str]:
        """Return the modules that it calls itself. Costs a recording of it."""
        if path not in self._called:
            self._called[path] = () if path in self.closed else self._recorded(path)
        return self._called[path]

    def is_left_out(self, path: str) -> bool:
        """Return whether the user wants this module left out of the capture."""
        return any(fnmatchcase(path, glob) for glob in self._settings.skip)

    def is_bypassed(self, path: str, called: str) -> bool:
        """Return whether a call of `path` that is made as if capturing leaves `called` out."""
        return self.bypassed.has(called) and not self.bypassed.has(path)

    def is_inside_left_out(self, path: str) -> bool:
        """Return whether `path` is that of a module left out, or of one inside it."""
        left_out = (one for one in self.parts if self.is_left_out(one))
        return any(is_below(path, one) for one in left_out)

    def roots(self, name: str) -> Sequence[str]:
        """Return where to search from in the callable `name`: all of it, or what the user named.

        Costs a recording of every module on the way to a named one.
        """
        globs = self._settings.modules
        if not globs:
            return [] if self.is_left_out(name) else [name]
        found: list[str] = []
        for path in self._instance.modules:  # those around others first
            is_wanted = is_below(path, name) and any(fnmatchcase(path, glob) for glob in globs)
            # One that is inside another is reached by the search; one that is not called, such as a
            # list of modules, holds others.
            is_held = any(is_below(path, one) for one in found)
            if is_wanted and not is_held and self.reach(path, name):
                found.append(path)
        return [path for path in found if not self.is_inside_left_out(path)]

    @contextmanager
    def from_start(self) -> Iterator[None]:
        """Run what is inside in the modes of the case, from the state after the warm-up."""
        self._instance.state.restore(self._warm.start)
        try:
            with modes_of(self._instance.case, self._settings):
                yield
        finally:
            with unless_lost(self._backend):
                self._instance.state.restore(self._warm.start)

    def reach(self, path: str, root: str) -> bool:
        """Return whether `path` is called, after recording all on the way to it."""
        while path not in self.parts:
            way = [part for part in self.called(root) if is_below(path, part)]
            if not way:
                return False
            root = way[0]
        return True

    def _runs_line(self, path: str, called: frozenset[str], place: Place) -> bool:
        """Return whether one step with `called` replaced runs a line. Traces it."""
        part = self.parts[path]
        stand_ins = StandIns([self.parts[child] for child in called])
        with self.from_start(), stand_ins.installed(), lines_run() as lines:
            self._prepare(part, 0)
            stand_ins.begin(0, static=False)
            for call in part.steps[0]:
                call.copied().of(part.run)
        return (place.path, place.line) in lines

    def _attempt(self, path: str, replaced: frozenset[str]) -> Outcome:
        self._ledger.say(f"judging {path or 'the root'}, attempt {self._ledger.attempts}")
        try:
            return self._judged(path, replaced)
        except CapturelintError:
            raise
        except Exception as error:  # noqa: BLE001 - odd values may break what handles all others
            return Outcome(Verdict.UNDECIDED, why=f"it could not be judged: {first_line(error)}")

    def _judged(self, path: str, replaced: frozenset[str]) -> Outcome:
        with self.from_start():
            return attempt(
                self.parts[path],
                backend=self._backend,
                state=self._instance.state,
                # The root is warm; once more shows what the module makes when it runs alone.
                settings=replace(self._settings, warmup=1),
                prepare=self._instance.prepare,
                replaced={child: self.parts[child] for child in replaced},
                inputs=self._warm.inputs.get(path),
                fresh=self._warm.fresh if path in self._warm.inputs else None,
                outside=outside(h for h in self.hazards if is_part(h.module, path, replaced)),
                tally=self._tally,
                reach=self._ledger.reach,
            )

    def _recorded(self, path: str) -> tuple[str, ...]:
        step = f"record {path}"
        died = self._ledger.died(step)
        if died is not None:
            self.notes.append(f"what {path or 'the root'} calls is not known: {died.why}")
            return ()
        with self._ledger.timed(step):
            try:
                level = self._level(path, None)
            except CapturelintError:
                raise
            except Exception as error:  # noqa: BLE001 - odd values may break what copies all others
                name = path or "the root"
                self.notes.append(f"what {name} calls could not be recorded: {first_line(error)}")
                return ()
            found = list(level.parts)
            while level.missing:
                level = self._level(path, level.missing)
                if not level.parts:
                    self.notes.append(
                        f"not recorded for want of memory: {', '.join(level.missing)}; "
                        "raise --record-limit"
                    )
                    break
                found += level.parts
        for part in found:
            self.parts.setdefault(part.path, part)
        return tuple(part.path for part in found)

    def _level(self, path: str, only: Sequence[str] | None) -> Level:
        part = self.parts[path]
        instance = self._instance

        def run_step(step: int) -> None:
            self._prepare(part, step)
            for call in part.steps[step]:
                call.copied().of(part.run)

        with self.from_start():
            level = record(
                run_step,
                root=part.run,
                modules={name: one for name, one in instance.modules.items() if name != path},
                steps=len(part.steps),
                limit=self._settings.record_limit * _MIB,
                path=path,
                only=only,
                shared=part.shared,
            )
        self.notes += level.notes
        return level

    def _prepare(self, part: Part, step: int) -> None:
        number = part.number(step)
        if self._instance.prepare is not None:
            self._instance.prepare(number)
        self._backend.seed(self._settings.seed + number)
