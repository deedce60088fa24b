"""What captures without a warm-up came to, and when that counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from capturelint.debug.culprits import cold_culprits, culprits_of
from capturelint.debug.instance import Instance
from capturelint.debug.outcome import Outcome
from capturelint.debug.search import Found, How
from capturelint.verdict import Culprit, Hazard, ModuleVerdict, Verdict


@dataclass(frozen=True, slots=True)
class Cold:
    """One capture without a warm-up. `note`: what mends it, or ""."""

    module: ModuleVerdict
    culprits: tuple[Culprit, ...]
    note: str = ""


class ColdFindings:
    """What each callable of a case came to without a warm-up. `calls`: that a warm-up takes."""

    def __init__(self) -> None:
        self.calls = 0
        self._found: list[Cold] = []

    def add(
        self,
        instance: Instance,
        name: str,
        outcome: Outcome,
        raised_in: str | None,
        hazards: Sequence[Hazard],
    ) -> None:
        """Add what capturing the callable `name` came to.

        `raised_in`: the module that an exception left first. `hazards`: of a run as if capturing,
        a line once, which the capture does not reach.
        """
        module = name if raised_in is None else raised_in
        running = instance.modules.get(module)
        part = instance.parts[name]
        cls = part.cls if running is None else type(running).__name__
        found = Found(module, outcome.verdict, How.WHOLE)
        culprits = culprits_of(found, outcome, (), cls, blamed=())
        culprits += cold_culprits(culprits, hazards, instance.modules)
        # The part itself would keep its instance on the device.
        cold = ModuleVerdict(name, part.cls, outcome.verdict, 1, outcome.why)
        self._found.append(Cold(cold, culprits))

    def counted(self, *, is_warm_too: bool) -> Iterator[Cold]:
        """Yield what counts where nothing fails after a warm-up, if there was one."""
        for one in self._found:
            if is_warm_too and one.module.verdict.is_failure:
                module = replace(one.module, verdict=Verdict.FAILS_COLD)
                yield replace(one, module=module, note=self._note(module.path))
            else:
                yield one

    def _note(self, path: str) -> str:
        calls = "1 eager call" if self.calls == 1 else f"{self.calls} eager calls"
        return (
            f"{calls} of {path or 'the root'} before the capture, on a side stream, mend it: "
            "captured after them, it passes"
        )
