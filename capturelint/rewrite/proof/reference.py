"""What the old code of a function came to, to be told apart from the new."""

from __future__ import annotations

from dataclasses import dataclass, field

from capturelint.debug.states.state import Change
from capturelint.rewrite.proof.gradients import Gradients
from capturelint.rewrite.proof.trial import Bench, Came, Inputs


@dataclass(slots=True)
class Reference:
    """What the old code came to on all inputs.

    `slopes`: its gradients, and `changes`: what it changes outside of the memory of the device, by the
    place of their input.
    """

    inputs: Inputs
    came: list[Came]
    slopes: dict[int, Gradients | str] = field(default_factory=dict)
    changes: dict[int, tuple[Change, ...]] = field(default_factory=dict)
    _has_slopes: bool = False

    def add_changes(self, bench: Bench) -> None:
        """Run the old code, which the functions still have, for what it changes, once."""
        if not self.changes:
            for number, one in enumerate(self.inputs):
                if one.leads_first:
                    self.changes[number] = bench.changes(one.calls, one.held)

    def add_slopes(self, bench: Bench) -> None:
        """Run the old code, which the functions still have, for the gradients of inputs that have slopes, once."""
        if self._has_slopes or bench.instance.case.mode == "inference":
            return
        self._has_slopes = True
        for number, one in enumerate(self.inputs):
            if one.has_slopes:
                self.slopes[number] = bench.gradients(one.calls, one.held)

    def of_what_ran(self) -> Reference:
        """Return the reference without the inputs for which the old code raised."""
        ran = [number for number, came in enumerate(self.came) if came.seen is not None]
        slopes = {
            new: self.slopes[number] for new, number in enumerate(ran) if number in self.slopes
        }
        changes = {
            new: self.changes[number] for new, number in enumerate(ran) if number in self.changes
        }
        inputs = [self.inputs[number] for number in ran]
        came = [self.came[number] for number in ran]
        return Reference(inputs, came, slopes, changes, self._has_slopes)
