"""State that pad rows change and that real rows read in the next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from capturelint.debug.attempts.compare import Difference, difference
from capturelint.debug.pads.families import Family
from capturelint.debug.pads.ground import Ground
from capturelint.debug.pads.left import STATE, Left
from capturelint.debug.pads.moved import Moved, Reference


@dataclass(slots=True)
class NextStep:
    """Runs a second step on the rows of the first, all real, after other pad rows in the first.

    `reference`: what the first step left. What of the state real rows read is added to it.
    """

    family: Family
    reference: Reference
    ground: Ground
    _plain: Reference | None = field(default=None)

    def moved(self, left: Left) -> Moved:
        """Return the state of `left`, of a run with other pad rows, that moves the next step.

        Where no step reads a single number that moved, it is in doubt: a host may read it.
        """
        changed = dict(self._changed(left))
        if not changed:
            return Moved()
        if self._is_read({path: left[path] for path in changed}):
            found = [
                path for path in changed if len(changed) > 1 and self._is_read({path: left[path]})
            ]
            for path in found or changed:
                value = self.reference.base[path]
                assert isinstance(value, Tensor)
                self.reference.known[path] = torch.ones_like(value, dtype=torch.bool)
            return Moved(changed[next(iter(found or changed))])
        single = [path for path in changed if _is_single(left[path])]
        if not single:
            return Moved()
        return Moved(
            doubt=f"`{single[0]}` follows what pad rows hold; no result of the next step follows it, "
            "and whether other code reads it is not known"
        )

    def _changed(self, left: Left) -> Iterator[tuple[str, Difference]]:
        for path, value in self.reference.base.items():
            if path.startswith(STATE) and path in left:
                tolerance = replace(
                    self.reference.tolerance, floor={"": self.reference.floor.get(path, 0.0)}
                )
                found = difference(value, left[path], tolerance)
                if found is not None and found.largest is not None:
                    yield path, replace(found, path=path)

    def _is_read(self, state: Mapping[str, object]) -> bool:
        plain = self._plain_step()
        values = {
            path.removeprefix(STATE): value
            for path, value in state.items()
            if isinstance(value, Tensor)
        }
        part, base = self.family.part, self.family.base
        return plain.moved(self.ground.after(part, base, values)).difference is not None

    def _plain_step(self) -> Reference:
        if self._plain is None:
            part, base = self.family.part, self.family.base
            self._plain = self.reference.on(self.ground.after(part, base, {}))
            self._plain.floor = {}
            self._plain.add_noise(self.ground.after(part, base, {}))
        return self._plain


def _is_single(value: object) -> bool:
    return isinstance(value, Tensor) and value.numel() == 1
