"""Which modules an eager call runs, and a call made as if capturing does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager

from capturelint.debug.attempts.attempt import Tally
from capturelint.debug.backend import Backend
from capturelint.debug.drypass import DryPass
from capturelint.debug.instance import Instance
from capturelint.debug.ledger import Ledger
from capturelint.debug.running import running
from capturelint.debug.settings import Settings
from capturelint.debug.warmup import step_of

_STEP = "eager pass"


class Bypassed:
    """Tells modules that no capture calls, as behind `if torch.cuda.is_current_stream_capturing()`.

    `passes`: of all callables. `eager_calls`: makes the same calls eagerly, and says how often each module
    was called, by path; it is asked once, and only if a pass left out what was asked about. `met`: those found so far.
    """

    def __init__(
        self, passes: Collection[DryPass], eager_calls: Callable[[], Mapping[str, int]]
    ) -> None:
        self._passes = passes
        self._eager_calls = eager_calls
        self._eager: Mapping[str, int] | None = None
        self.met: dict[str, None] = {}

    def has(self, path: str) -> bool:
        """Return whether that is surely so; a pass that broke off early tells nothing."""
        is_seen = any(one.broke or one.calls.get(path) for one in self._passes)
        if is_seen or not self._passes:
            return False
        if self._eager is None:
            self._eager = self._eager_calls()
        # Another step may have called it, where a value decides.
        if not self._eager.get(path):
            return False
        self.met[path] = None
        return True


def eager_calls(
    instance: Instance,
    from_start: Callable[[], AbstractContextManager[None]],
    backend: Backend,
    settings: Settings,
    *,
    ledger: Ledger,
    tally: Tally,
) -> Mapping[str, int]:
    """Return how often the first step of all callables calls each module; {} if that cannot be told.

    `from_start`: runs what is inside from the state in which the passes began.
    """
    found: Counter[str] = Counter()
    for name in instance.parts if ledger.died(_STEP) is None else ():
        with ledger.timed(_STEP), from_start():
            tally.forwards += 1
            call = step_of(instance, name, 0, backend, settings)
            with running(instance.case.named, name) as now:
                try:
                    call()
                except Exception:  # noqa: BLE001 - user code may raise anything
                    return {}
        found += now.calls
    return found
