"""Answers about pad rows as the search asks for them: which modules let them into real rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from capturelint.debug.attempts.compare import Tolerance
from capturelint.debug.attempts.part import Part
from capturelint.debug.attempts.refused import first_line
from capturelint.debug.attempts.replaced import StandInError
from capturelint.debug.ledger import Ledger
from capturelint.debug.outcome import Outcome
from capturelint.debug.pads.apart import moved_apart
from capturelint.debug.pads.batch import Batch, NoRowsError
from capturelint.debug.pads.families import Family, called_families
from capturelint.debug.pads.fewer import FewerRows
from capturelint.debug.pads.fills import Fill, filled, fills_of, with_real_rows
from capturelint.debug.pads.ground import CannotRunPadsError, Ground
from capturelint.debug.pads.left import STATE, Left
from capturelint.debug.pads.moved import Moved, Reference, Shorter
from capturelint.debug.pads.outcomes import judged_by, leak, undecided
from capturelint.debug.pads.reading import NextStep
from capturelint.debug.pads.rows import Rows
from capturelint.errors import CapturelintError
from capturelint.verdict import Verdict

_WITHOUT_ROWS = "no output has a batch dimension: what could be a real row of it is not known"


class PadJudge:
    """Judges one callable and the modules it calls. `batch`: of it, or why there is none.

    `outcomes`: what was judged so far, by path. `families`: the runs that they were judged on.
    `parents`: by path, the module that calls it. `notes`: what the user must know.
    """

    def __init__(
        self, part: Part, batch: Callable[[], Batch], ground: Ground, ledger: Ledger
    ) -> None:
        self._part = part
        self._batch = batch
        self._ground = ground
        self._ledger = ledger
        self._references: dict[object, Reference] = {}
        self._next_steps: dict[int, NextStep] = {}
        self._called: dict[str, tuple[str, ...]] = {}
        self.outcomes: dict[str, Outcome] = {}
        self.families: dict[str, Family] = {}
        self.parents: dict[str, str] = {}
        self.notes: list[str] = []
        self._fewer = FewerRows(ground, self.notes)

    @property
    def tolerance(self) -> Tolerance:
        """Return what counts as equal."""
        return Tolerance(self._ground.settings.rtol, self._ground.settings.atol)

    def whole(self, path: str) -> Verdict:
        """Return whether real rows that a module returns or keeps move with the pad rows."""
        if path not in self.outcomes:
            is_root = path == self._part.path
            self.outcomes[path] = self._root() if is_root else self._inside(path)
        return self.outcomes[path].verdict

    def called(self, path: str) -> Sequence[str]:
        """Return the modules that it calls itself. Costs recordings of it."""
        if path not in self._called:
            self._called[path] = self._recorded(path)
        return self._called[path]

    def without(self, path: str, replaced: frozenset[str]) -> Verdict:
        """Return what its lines do, with these modules replaced by what they return in clean rows."""
        if not replaced:
            return self.whole(path)
        step = f"pad-own {path} without {' '.join(sorted(replaced))}"
        work = partial(self._apart, path, replaced)
        return self._ledger.outcome(step, partial(judged_by, work)).verdict

    def is_told_by_line(self, path: str, called: Sequence[str]) -> bool:  # noqa: ARG002 - as the search asks
        """Return True: what no module inside does alone is the work of the lines that call them."""
        return True

    def is_left_out(self, path: str) -> bool:  # noqa: ARG002 - as the search asks
        """Return False: pad rows go through what is not captured too."""
        return False

    def reference(self, family: Family) -> Reference:
        """Return what real rows of a family are compared with. Costs up to five runs, once."""
        key = family.part.path, family.rows.real
        if key not in self._references:
            self._references[key] = self._made(family)
        return self._references[key]

    def _root(self) -> Outcome:
        try:
            batch = self._batch()
        except NoRowsError as error:
            return undecided(str(error))
        (call,) = batch.part.steps[0]
        tried: list[tuple[Outcome, Rows, Fill]] = []
        for real in dict.fromkeys((batch.total // 2, batch.total - 1)):
            rows = Rows(batch.total, real)
            for fill in fills_of(call, batch.part.run, batch.axes):
                step = f"pad {batch.part.path} with {fill.name}, {rows.pads} pad rows"
                self._ledger.say(f"pad rows hold {fill.name}: {rows}")
                work = partial(self._tried, batch, rows, fill)
                outcome = self._ledger.outcome(step, partial(judged_by, work))
                tried.append((outcome, rows, fill))
        leaks = [one for one in tried if one[0].verdict is Verdict.PADS]
        if not leaks:
            told = [
                one[0] for one in tried if one[2].is_whole or not self._is_telling_nothing(*one)
            ]
            return min(told, key=lambda one: one.verdict.rank)
        # What finite values show is no matter of NaN alone, and half a batch shows most.
        first, rows, fill = leaks[0]
        names = tuple(dict.fromkeys(fill.name for _, _, fill in leaks))
        family = self._family(batch, rows, fill)
        if family is not None:
            self.families[batch.part.path] = family
            self._learn(family)
        return replace(first, evidence=replace(first.evidence, fills=names))

    def _is_telling_nothing(self, outcome: Outcome, _rows: Rows, fill: Fill) -> bool:
        """Return whether rows put together of several tell nothing: no server may hold such."""
        if outcome.verdict is not Verdict.UNDECIDED:
            return False
        note = f"pad rows that hold {fill.name} are left out: {outcome.why}"
        if note not in self.notes:
            self.notes.append(note)
        return True

    def _learn(self, family: Family) -> None:
        """Find out again what of the state real rows read: the outcome may be of another process."""
        try:
            self._moved(family)
        except CannotRunPadsError as error:
            self.notes.append(f"what the next step reads is not known: with pad rows it {error}")

    def _tried(self, batch: Batch, rows: Rows, fill: Fill) -> Outcome:
        family = self._family(batch, rows, fill)
        if family is None:
            return Outcome(Verdict.NOT_CALLED)
        try:
            reference = self.reference(family)
        except CannotRunPadsError as error:
            return undecided(f"without pad rows it {error}")
        try:
            found = self._moved(family)
        except CannotRunPadsError as error:
            return undecided(f"with {fill.name} in the pad rows it {error}")
        if found.difference is None and not reference.has_rows():
            return undecided(_WITHOUT_ROWS)
        return leak(found, rows, fill)

    def _moved(self, family: Family) -> Moved:
        """Return what moved; what moves is run again, as eager runs may differ by themselves."""
        reference = self.reference(family)
        ground, part = self._ground, family.part
        left = ground.left(part, family.filled)
        found = reference.moved(left)
        if found.difference is not None:
            reference.add_noise(ground.left(part, family.base))
            return reference.moved(ground.left(part, family.filled))
        if part.path != self._part.path:
            return found
        real = family.rows.real
        if real not in self._next_steps:
            self._next_steps[real] = NextStep(family, reference, ground)
        later = self._next_steps[real].moved(left)
        return later if later.difference is not None or not found.doubt else found

    def _family(self, batch: Batch, rows: Rows, fill: Fill) -> Family | None:
        part, axes = batch.part, batch.axes
        (call,), (stale,) = part.steps[:2]
        pads = filled(call, part.run, axes, rows, fill, stale)
        if pads is None:
            return None
        probe = with_real_rows(call, part.run, axes, 1, stale)
        others = self._fewer.calls(batch, rows)
        runs = replace(part, steps=((call,), (pads,), (probe,)))
        return Family(runs, rows, ((pads,),), others, rows.real, (axes,))

    def _made(self, family: Family) -> Reference:
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
        is_root = part.path == self._part.path
        probed = self._fewer.probed(part, family.rows) if is_root else ()
        return Shorter(left[0], family.total, (*left[1:], *probed))

    def _known(self, family: Family, base: Left) -> dict[str, Tensor]:
        """Return where state of a called module belongs to real rows, as runs of the root showed."""
        root = self.families.get(self._part.path)
        if root is None or family.part.path == self._part.path:
            return {}
        reference = self.reference(root)
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

    def _inside(self, path: str) -> Outcome:
        family = self.families[path]
        if family.why:
            return undecided(family.why)

        def work() -> Outcome:
            try:
                found = self._moved(family)
            except CannotRunPadsError as error:
                return undecided(f"alone it {error}")
            return leak(found, family.rows, None)

        return self._ledger.outcome(f"pad {path}", lambda: judged_by(work))

    def _recorded(self, path: str) -> tuple[str, ...]:
        family = self.families.get(path)
        step = f"pad-record {path}"
        died = self._ledger.died(step)
        if family is None or family.why:
            return ()
        if died is not None:
            why = "the process died while what it calls was recorded: where pad rows come in is unknown"
            self.notes.append(f"pad rows: {path or 'the case'}: {why}")
            if path == self._part.path:
                self.outcomes[path] = undecided(why)
            return ()
        with self._ledger.timed(step):
            try:
                found = called_families(family, self._ground)
            except CapturelintError:
                raise
            except Exception as error:  # noqa: BLE001 - odd values may break what copies all others
                self.notes.append(
                    f"what {path or 'the root'} calls could not be recorded: {first_line(error)}"
                )
                return ()
        for name, one in found.items():
            self.families.setdefault(name, one)
            self.parents.setdefault(name, path)
        return tuple(found)

    def _apart(self, path: str, replaced: frozenset[str]) -> Outcome:
        family = self.families[path]
        children = {name: self.families[name] for name in replaced}
        try:
            found = moved_apart(family, children, self.reference(family), self._ground)
        except (CannotRunPadsError, StandInError) as error:
            return undecided(str(error))
        return leak(found, family.rows, None)
