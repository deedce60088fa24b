"""The modules that let pad rows into real rows, as culprits with their lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from capturelint.debug.ledger import Ledger
from capturelint.debug.outcome import Outcome
from capturelint.debug.pads.ground import Ground
from capturelint.debug.pads.judge import PadJudge
from capturelint.debug.pads.lines import leaking_line
from capturelint.debug.pads.outcomes import MESSAGE, judged_by
from capturelint.debug.search import Found
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Culprit, Verdict


@dataclass(frozen=True, slots=True)
class Leaking:
    """A module to blame. `line`: with the place, if it is known. `outcome`: what moved in it."""

    path: str
    cls: str
    line: Outcome
    outcome: Outcome

    def culprit(self, root: Outcome) -> Culprit:
        """Return what a report says of it. `root`: the outcome of all, which had all the fills."""
        evidence = replace(
            self.outcome.evidence, fills=root.evidence.fills, rows=root.evidence.rows
        )
        return Culprit(
            module=self.path,
            cls=self.cls,
            place=self.line.places[0] if self.line.places else None,
            operation=self.line.operation,
            effect=Effect.LEAKS,
            certainty=self.line.certainty if self.line.places else Certainty.MODULE_ONLY,
            message=MESSAGE,
            evidence=evidence,
        )


def leaking(
    found: Sequence[Found], judged: PadJudge, ground: Ground, ledger: Ledger
) -> list[Leaking]:
    """Return the modules that a search found, with the lines to blame. Costs runs of each."""
    made: list[Leaking] = []
    for one in found:
        if one.verdict is not Verdict.PADS or one.path not in judged.families:
            continue
        if judged.outcomes[one.path].verdict is not Verdict.PADS:
            continue  # what it calls could not be recorded
        line = _line(one.path, judged, ground, ledger)
        if line.verdict is Verdict.EQUAL:
            judged.notes.append(
                f"pad rows: {one.path or 'the case'} puts rows into another order; whether it puts "
                "them back can be told when what it calls keeps them apart"
            )
            continue
        cls = judged.families[one.path].part.cls
        made.append(Leaking(one.path, cls, line, judged.outcomes[one.path]))
    return made or _only_open(found, judged)


def _only_open(found: Sequence[Found], judged: PadJudge) -> list[Leaking]:
    """Return the one module that the leak must be in, though it could not be judged alone."""
    root = judged.outcomes[judged.root]
    left = [one for one in found if one.path in judged.families]
    if root.verdict is not Verdict.PADS or len(left) != 1 or left[0].verdict is Verdict.PADS:
        return []
    path = left[0].path
    return [Leaking(path, judged.families[path].part.cls, Outcome(Verdict.PADS), root)]


def _line(path: str, judged: PadJudge, ground: Ground, ledger: Ledger) -> Outcome:
    line = partial(leaking_line, path, judged, ground)
    return ledger.outcome(f"pad-line {path}", partial(judged_by, line))
