"""After a pass: many more replays of one graph on ever-new inputs, each compared with eager."""

from __future__ import annotations

from collections.abc import Callable
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

        Stretches that an earlier process came through are not run again.
        """
        total, first = self._settings.soak, self._settings.replays + 1
        called = name or "the case"
        noisy = 0
        done_before = 0
        with self._modules.from_start():
            soak = self._soak(name)
            try:
                for start in range(0, total, _STRETCH):
                    count = min(_STRETCH, total - start)
                    step = f"soak {name} {first + start + 1} to {first + start + count}"
                    if self._ledger.died(step) is not None and not soak.is_ready:
                        done_before = start + count
                    self._ledger.say(f"soak of {called}: replay {start} of {total}")
                    work = self._stretch(soak, name, first + start, count)
                    outcome = self._ledger.outcome(step, work)
                    noisy += outcome.verdict is Verdict.NONDETERMINISTIC
                    if outcome.verdict.is_failure or outcome.verdict is Verdict.UNDECIDED:
                        return Soaked(_told(outcome, start, total), self._notes(soak, done_before))
            finally:
                soak.close()
        words = "differ no more than eager runs do" if noisy else "equal eager"
        note = f"soak: {total} more replays of {called} on new inputs {words}"
        return Soaked(Outcome(Verdict.EQUAL), (note, *self._notes(soak, done_before)))

    def _soak(self, name: str) -> Soak:
        part = self._warm.instance.parts[name]
        settings, prepare = self._settings, self._warm.instance.prepare
        runs = Runs(part, self._backend, settings.seed, prepare, StandIns(()), self._tally)
        side = Side(runs, self._warm.instance.state)
        once = replace(settings, warmup=1)  # the case is warm
        return Soak(side, self._backend, once, self._warm.inputs[name], self._warm.fresh)

    def _stretch(self, soak: Soak, name: str, number: int, count: int) -> Callable[[], Outcome]:
        def work() -> Outcome:
            steps = self._warm.instance.steps
            shared = tuple(steps.shared.objects.values())
            kept = Kept(
                [kept_call(Call(*steps(number + one)[name], shared=shared))] for one in range(count)
            )
            try:
                return soak.stretch(kept, number)
            except UndecidedError as error:
                return Outcome(Verdict.UNDECIDED, why=str(error))

        return work

    def _notes(self, soak: Soak, done_before: int) -> tuple[str, ...]:
        notes: list[str] = []
        if done_before:
            notes.append(
                f"soak: {done_before} replays are those of the run before; after them state went on "
                "as after the warm-up"
            )
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


def _told(outcome: Outcome, done: int, total: int) -> Outcome:
    """Return the outcome, with how far it was where that is all that is known."""
    if outcome.verdict is not Verdict.UNDECIDED:
        return outcome
    return replace(outcome, why=f"soak: after {done} of {total} more replays: {outcome.why}")
