"""What the old code of a function came to, to be told apart from the new."""

from __future__ import annotations

from dataclasses import dataclass, field

from capturelint.rewrite.proof.gradients import Gradients
from capturelint.rewrite.proof.trial import Bench, Came, Inputs


@dataclass(slots=True)
class Reference:
    """What the old code came to on all inputs. `slopes`: its gradients, by the place of their input."""

    inputs: Inputs
    came: list[Came]
    slopes: dict[int, Gradients | str] = field(default_factory=dict)
    _has_slopes: bool = False

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
        inputs = [self.inputs[number] for number in ran]
        return Reference(inputs, [self.came[number] for number in ran], slopes, self._has_slopes)
