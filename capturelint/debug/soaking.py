"""After a pass: many more replays of one graph on ever-new inputs, each compared with eager."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from capturelint.debug.attempts.attempt import Tally
from capturelint.debug.attempts.kept import Kept, kept_call
from capturelint.debug.attempts.part import Call
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.attempts.runs import Runs
from capturelint.debug.attempts.side import Side
from capturelint.debug.attempts.soak import Soak
from capturelint.debug.attempts.stages import UndecidedError
from capturelint.debug.backend import Backend
from capturelint.debug.ledger import Ledger
from capturelint.debug.modules import Modules
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.warmup import Warm
from capturelint.verdict import Verdict

_STRETCH = 16  # steps between two times that the state is changed from eager to that of replays
_LEAST_GROWN = 1 << 20  # bytes in all; less may be caches of libraries
_MIB = 1 << 20


_OVER = (
    "soak: an earlier process made all of these replays; memory that grew meanwhile is not known"
)


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Replays that are compared at once. `start`: those before; `number`: of its first step."""

    step: str
    start: int
    number: int
    count: int


@dataclass(frozen=True, slots=True)
class Soaked:
    """What came of it. `outcome`: of the replays. `notes`: what the user must know."""

    outcome: Outcome
    notes: tuple[str, ...]


class Soaking:
    """Replays a callable of a warm case that passed. `modules`: puts the state back afterwards."""

    def __init__(
        self,
        warm: Warm,
        modules: Modules,
        backend: Backend,
        settings: Settings,
        ledger: Ledger,
        tally: Tally,
    ) -> None:
        self._warm = warm
        self._modules = modules
        self._backend = backend
        self._settings = settings
        self._ledger = ledger
        self._tally = tally

    def soaked(self, name: str) -> Soaked:
        """Return what `settings.soak` more replays of the callable `name` show.

        Each goes on from the state of the one before: what an earlier process broke off is begun
        anew, as its state is gone. Where that process died, or it found a fault, is known.
        """
        stretches = self._stretches(name)
        for one in stretches:
            known = self._ledger.died(one.step)
            if known is not None and _is_end(known):
                return Soaked(_told(known, one.start, self._settings.soak), ())
        is_over = self._ledger.died(stretches[-1].step) is not None
        if not is_over:
            for one in stretches:
                self._ledger.forget(one.step)
        return self._replayed(name, stretches, is_over=is_over)

    def _replayed(self, name: str, stretches: Sequence[_Stretch], *, is_over: bool) -> Soaked:
        """Return what the stretches show. `is_over`: an earlier process has found all outcomes."""
        total, called = self._settings.soak, name or "the case"
        noisy = 0
        with self._modules.from_start():
            soak = self._soak(name)
            try:
                for one in stretches:
                    self._ledger.say(f"soak of {called}: replay {one.start} of {total}")
                    outcome = self._ledger.outcome(one.step, self._work(soak, name, one))
                    noisy += outcome.verdict is Verdict.NONDETERMINISTIC
                    if _is_end(outcome):
                        return Soaked(_told(outcome, one.start, total), self._notes(soak))
            finally:
                soak.close()
        words = "differ no more than eager runs do" if noisy else "equal eager"
        note = f"soak: {total} more replays of {called} on new inputs {words}"
        return Soaked(Outcome(Verdict.EQUAL), (note, *([_OVER] if is_over else self._notes(soak))))

    def _stretches(self, name: str) -> list[_Stretch]:
        total, first = self._settings.soak, self._settings.replays + 1
        found = []
        for start in range(0, total, _STRETCH):
            count = min(_STRETCH, total - start)
            step = f"soak {name} {first + start + 1} to {first + start + count}"
            found.append(_Stretch(step, start, first + start, count))
        return found

    def _soak(self, name: str) -> Soak:
        part = self._warm.instance.parts[name]
        settings, prepare = self._settings, self._warm.instance.prepare
        runs = Runs(part, self._backend, settings.seed, prepare, StandIns(()), self._tally)
        side = Side(runs, self._warm.instance.state)
        once = replace(settings, warmup=1)  # the case is warm
        return Soak(side, self._backend, once, self._warm.inputs[name], self._warm.fresh)

    def _work(self, soak: Soak, name: str, stretch: _Stretch) -> Callable[[], Outcome]:
        def work() -> Outcome:
            steps = self._warm.instance.steps
            shared = tuple(steps.shared.objects.values())
            kept = Kept(
                [kept_call(Call(*steps(stretch.number + one)[name], shared=shared))]
                for one in range(stretch.count)
            )
            try:
                return soak.stretch(kept, stretch.number)
            except UndecidedError as error:
                return Outcome(Verdict.UNDECIDED, why=str(error))

        return work

    def _notes(self, soak: Soak) -> tuple[str, ...]:
        notes: list[str] = []
        recorded = self._warm.instance.case.inputs
        if isinstance(recorded, list):
            notes.append(f"soak: inputs holds {len(recorded)}, which come again in turn")
        if soak.grown is not None and soak.grown >= _LEAST_GROWN:
            each = soak.grown / soak.replays / _MIB
            notes.append(
                f"soak: memory of the device grew by {soak.grown / _MIB:.1f} MiB in {soak.replays} "
                f"replays, {each:.3g} MiB in each"
            )
        return tuple(notes)


def _is_end(outcome: Outcome) -> bool:
    return outcome.verdict.is_failure or outcome.verdict is Verdict.UNDECIDED


def _told(outcome: Outcome, done: int, total: int) -> Outcome:
    """Return the outcome, with how far it was where that is all that is known."""
    if outcome.verdict is not Verdict.UNDECIDED:
        return outcome
    return replace(outcome, why=f"soak: after {done} of {total} more replays: {outcome.why}")
