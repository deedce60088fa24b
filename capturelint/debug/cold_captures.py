"""Capture each callable of a case without any warm-up, in instances that were never called."""

from __future__ import annotations

import gc
from collections.abc import Callable
from dataclasses import dataclass

from capturelint.debug.attempts.attempt import Tally
from capturelint.debug.backend import Backend
from capturelint.debug.cases.case import Case
from capturelint.debug.cold import ColdAttempt
from capturelint.debug.drypass import DryPass, dry_pass
from capturelint.debug.findings import Findings
from capturelint.debug.instance import Instance, loaded, modes_of, with_gradients
from capturelint.debug.ledger import Ledger
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.warmup import step_of, wants_gradients
from capturelint.verdict import Verdict

Load = Callable[[], Case]


def judge_cold(
    load: Load,
    backend: Backend,
    settings: Settings,
    *,
    ledger: Ledger,
    tally: Tally,
    findings: Findings,
) -> None:
    """Add to `findings` what a capture of each callable of the case that `load` makes comes to."""
    _Cold(load, backend, settings, ledger, tally).judge(findings)


@dataclass(frozen=True, slots=True)
class _Cold:
    load: Load
    backend: Backend
    settings: Settings
    ledger: Ledger
    tally: Tally

    def judge(self, findings: Findings) -> None:
        """Capture each callable and add what came of it to `findings`."""
        captured, reference = self._instance(), self._instance()
        for name in tuple(captured.parts):  # which may be replaced meanwhile
            outcome, raised_in = self._cold(captured, reference, name, "cold")
            load = self.load
            is_without = captured.case.mode == "no_grad"
            if is_without and wants_gradients(outcome.evidence.exception):
                load = with_gradients(self.load)
                del captured, reference
                gc.collect()
                captured, reference = self._instance(load), self._instance(load)
                outcome, raised_in = self._cold(captured, reference, name, "cold-with-gradients")
            # A capture stops at the first, mostly the handle of cuBLAS.
            refuses = outcome.verdict is Verdict.REFUSES
            dry = self._cold_dry_pass(load, name) if refuses else DryPass()
            if is_without and wants_gradients(dry.broke):
                dry = self._cold_dry_pass(with_gradients(self.load), name)
            findings.add_cold(captured, name, outcome, raised_in, dry.hazards)

    def _cold(
        self, captured: Instance, reference: Instance, name: str, step: str
    ) -> tuple[Outcome, str | None]:
        """Return what a capture without warm-up came to, and the module that an exception left."""
        cold = ColdAttempt(captured, reference, name, self.backend, self.settings, self.tally)
        return self.ledger.outcome(f"{step} {name}".strip(), cold.outcome), cold.raised_in

    def _cold_dry_pass(self, load: Load, name: str) -> DryPass:
        """Return what a run as if capturing shows of an instance that was never called."""
        step = f"cold-dry {name}".strip()
        died = self.ledger.died(step)
        if died is not None:
            return DryPass(broke=died.why)
        instance = self._instance(load)
        with self.ledger.timed(step), modes_of(instance.case, self.settings):
            self.tally.forwards += 1
            call = step_of(instance, name, 0, self.backend, self.settings)
            return dry_pass(call, self.backend, instance.case.named, name)

    def _instance(self, load: Load | None = None) -> Instance:
        with self.ledger.timed("load"):
            return loaded(load or self.load, self.backend, self.settings)
