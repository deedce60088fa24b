"""What runs with other pad rows are compared with, and what moved in them, run by run."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.pads.families import Family
from capturelint.debug.pads.fewer import FewerRows
from capturelint.debug.pads.ground import CannotRunPadsError, Ground
from capturelint.debug.pads.left import STATE, Left
from capturelint.debug.pads.moved import Moved, Reference, Shorter
from capturelint.debug.pads.reading import NextStep


class References:
    """The references of one callable and of the modules it calls, each made once.

    `root`: the path of the callable. `families`: by path, those judged so far; that of the root tells
    which of the state is whose. `notes`: gains what the user must know.
    """

    def __init__(
        self, root: str, families: Mapping[str, Family], ground: Ground, notes: list[str]
    ) -> None:
        self._root = root
        self._families = families
        self._ground = ground
        self._notes = notes
        self._made: dict[object, Reference] = {}
        self._next_steps: dict[tuple[int, str], NextStep] = {}
        self._fewer: dict[str, FewerRows] = {}

    @property
    def tolerance(self) -> Tolerance:
        """Return what counts as equal."""
        return Tolerance(self._ground.settings.rtol, self._ground.settings.atol)

    def of(self, family: Family) -> Reference:
        """Return what real rows of a family are compared with. Costs up to five runs, once."""
        key = family.part.path, family.rows.real, family.beside
        if key not in self._made:
            self._made[key] = self._of(family)
        return self._made[key]

    def moved(self, family: Family) -> Moved:
        """Return what moved; what moves is run again, as eager runs may differ by themselves."""
        reference = self.of(family)
        ground, part = self._ground, family.part
        left = ground.left(part, family.filled)
        found = reference.moved(left)
        if found.difference is not None:
            reference.add_noise(ground.left(part, family.base))
            return reference.moved(ground.left(part, family.filled))
        if part.path != self._root:
            return found
        key = family.rows.real, family.beside
        if key not in self._next_steps:
            self._next_steps[key] = NextStep(family, reference, ground)
        later = self._next_steps[key].moved(left)
        return later if later.difference is not None or not found.doubt else found

    def fewer(self, beside: str) -> FewerRows:
        """Return what makes calls on fewer rows of this kind. Only those of the case give notes."""
        notes = [] if beside else self._notes
        return self._fewer.setdefault(beside, FewerRows(self._ground, notes))

    def _of(self, family: Family) -> Reference:
        ground, part = self._ground, family.part
        base = ground.left(part, family.base)
        reference = Reference(
            rows=family.rows,
            base=base,
            before=ground.before(part, family.base, frozenset(base)),
            probe=ground.left(part, family.probe),
            shorter=self._shorter(family),
            tolerance=self.tolerance,
            known=self._known(family, base),
        )
        reference.add_noise(ground.left(part, family.base))
        return reference

    def _shorter(self, family: Family) -> Shorter | None:
        """Return what fewer rows leave, or None: such a run may be what code is not made for."""
        if not family.others:
            return None
        ground, part = self._ground, family.part
        try:
            left = [ground.left(part, calls, is_fresh=True) for calls in family.others]
        except CannotRunPadsError:
            return None
        is_root = part.path == self._root
        fewer = self.fewer(family.beside)
        probed = fewer.probed(part, family.rows) if is_root else ()
        return Shorter(left[0], family.total, (*left[1:], *probed))

    def _known(self, family: Family, base: Left) -> dict[str, Tensor]:
        """Return where state of a called module belongs to real rows, as runs of the root showed."""
        root = self._families.get(self._root)
        if root is None or family.part.path == self._root:
            return {}
        reference = self.of(root)
        theirs = self._ground.storages(root.part)
        owned: dict[tuple[int | None, torch.Size], Tensor] = {}
        for path in reference.base:
            mask = reference.owned(path) if path.startswith(STATE) else None
            if mask is not None:
                owned[theirs.get(path.removeprefix(STATE)), mask.shape] = mask
        known: dict[str, Tensor] = {}
        for name, storage in self._ground.storages(family.part).items():
            value = base.get(f"{STATE}{name}")
            if (
                storage is not None
                and isinstance(value, Tensor)
                and (storage, value.shape) in owned
            ):
                known[f"{STATE}{name}"] = owned[storage, value.shape]
        return known
