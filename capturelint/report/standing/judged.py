"""Hold findings against what a run showed: which are proved, refuted, not reached, or not to be told.

Refuted is only what the run contradicts: the expression was evaluated as if capturing, and did
nothing of what the finding says; what goes stale must also have been replayed on inputs that vary.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase

from capturelint.execution import Executed, Noted, Ran
from capturelint.finding import Effect
from capturelint.report.standing.codes import (
    AROUND,
    NOT_OF_CODE,
    SHOWN_AT_LINE,
    SHOWN_BY_REPLAYS,
)
from capturelint.report.standing.stand import Located, Stand, Standing
from capturelint.verdict import ROOT, Certainty, Culprit, Report, Verdict

_PASSES = frozenset({Verdict.EQUAL, Verdict.ALIASES_INPUT})
_MOST_SHOWN = 3


class _UntoldError(Exception):
    """It cannot be told how a finding stands. The text says why."""


def judged(
    located: Sequence[Located], report: Report, skipped: Sequence[str] = ()
) -> tuple[Stand, ...]:
    """Return how each finding stands, in their order.

    `report`: of a run that was asked to watch the places of those that have one, in that order.
    `skipped`: globs over paths of modules that were left out of the capture.
    """
    ran = iter(() if report.executed is None else report.executed.ran)
    each = [None if one.asked is None else next(ran, None) for one in located]
    codes = _codes_by_line(located)
    return tuple(
        _Judging(one, found, report, codes, skipped).stand()
        for one, found in zip(located, each, strict=True)
    )


def _codes_by_line(located: Sequence[Located]) -> dict[tuple[str, int], set[str]]:
    codes: dict[tuple[str, int], set[str]] = {}
    for one in located:
        if one.asked is not None:
            for line in range(one.asked.line, one.asked.end_line + 1):
                codes.setdefault((one.asked.path, line), set()).add(one.finding.code)
    return codes


class _Judging:
    """The judging of one finding."""

    def __init__(
        self,
        located: Located,
        ran: Ran | None,
        report: Report,
        codes: dict[tuple[str, int], set[str]],
        skipped: Sequence[str],
    ) -> None:
        self.located = located
        self.finding = located.finding
        self.ran = Ran() if ran is None else ran
        self.report = report
        self.codes = codes
        self.skipped = skipped
        self.verdicts = {one.path: one for one in report.modules}

    def stand(self) -> Stand:
        """Return how it stands."""
        try:
            standing, why = self._standing()
        except _UntoldError as error:
            standing, why = Standing.UNTOLD, str(error)
        return Stand(self.finding, standing, why, self.ran.calls, self.ran.modules)

    def _standing(self) -> tuple[Standing, str]:
        if self.finding.code in NOT_OF_CODE:
            raise _UntoldError("it is about no code that a case runs")
        if self.located.asked is None:
            raise _UntoldError(self.located.problem)
        proof = self._proof()
        if proof:
            return Standing.PROVED, proof
        executed = self.report.executed
        if executed is None:
            why = next((one.why for one in self.report.modules if one.why), "")
            raise _UntoldError(f"nothing was run as if capturing{f': {why}' if why else ''}")
        if self.ran.calls == 0:
            return Standing.NOT_REACHED, self._not_reached(executed)
        self._check(executed)
        effects = self.finding.effects
        if not effects:
            raise _UntoldError("it names no effect")
        seen = [self._contradiction(effect, executed) for effect in effects]
        return Standing.REFUTED, f"{self._how_often()}, and {'; '.join(dict.fromkeys(seen))}"

    def _proof(self) -> str:
        """Return what shows that the finding is right, or ""."""
        if self.ran.calls == 0:
            return ""  # something else on its line
        own = [note for note in self.ran.noted if not note.is_beside]
        for culprit in self._blamed():
            if culprit.effect in self._counted_effects() and not self._is_of_others(culprit):
                sure = (
                    "" if culprit.certainty is Certainty.SHOWN else f" ({culprit.certainty.value})"
                )
                seen = [one.operation for one in own if one.effect is culprit.effect]
                told = culprit.operation or culprit.message.partition("\n")[0]
                what = told if told in seen or not seen else seen[0]
                return f"{culprit.effect.value} in {culprit.module or ROOT}: {what}{sure}"
        for note in own if self.finding.code not in AROUND else ():
            if note.effect is Effect.REFUSES and note.effect in self._counted_effects():
                return self._noted(note)
        return ""

    def _is_of_others(self, culprit: Culprit) -> bool:
        """Return whether all that its lines were seen to do of this kind, other expressions did."""
        same = [one.is_beside for one in self.ran.noted if one.effect is culprit.effect]
        return bool(same) and all(same)

    def _noted(self, note: Noted) -> str:
        judged = self._judged_around(note.module)
        if judged in _PASSES:
            raise _UntoldError(
                f"as if capturing it did {note.operation}, yet {note.module or ROOT} was captured"
                f" and its replays are equal"
            )
        return f"as if capturing, in {note.module or ROOT}: {note.operation}"

    def _counted_effects(self) -> set[Effect]:
        """Return the effects that prove it. What a capture refuses, the host waits for otherwise."""
        effects = set(self.finding.effects)
        return effects | {Effect.REFUSES} if Effect.SLOW in effects else effects

    def _blamed(self) -> Iterator[Culprit]:
        """Yield culprits of its lines; not those that another rule's finding on them explains."""
        for culprit in self.report.culprits:
            places = [culprit.place]
            for frozen in culprit.evidence.frozen:
                places += [frozen.place, frozen.cause]
            lines = [
                (os.path.realpath(one.path), one.line) for one in places if one and self._has(one)
            ]
            others = {code for line in lines for code in self.codes.get(line, ())}
            is_anothers = culprit.code != self.finding.code and (
                culprit.code in others or self.finding.code in AROUND
            )
            if lines and not is_anothers:
                yield culprit

    def _has(self, place: object) -> bool:
        asked = self.located.asked
        path, line = getattr(place, "path", ""), getattr(place, "line", 0)
        return bool(
            asked and path and asked.has_line(line) and os.path.realpath(path) == asked.path
        )

    def _not_reached(self, executed: Executed) -> str:
        early = f"; that run ended early: {executed.broke}" if executed.broke else ""
        if not self.ran.is_file_run:
            return f"nothing of its file ran as if capturing{early}"
        if not self.ran.entered:
            return f"its function did not run as if capturing{early}"
        return f"its function ran {_times(self.ran.entered)} as if capturing, this not{early}"

    def _check(self, executed: Executed) -> None:
        """Raise `_UntoldError` if what was seen is not enough, whatever the effect."""
        if self.ran.calls is None:
            raise _UntoldError(
                "it is not known whether it ran: which part of a line runs Python 3.11 and 3.12 tell,"
                " and only while nothing else traces"
            )
        if executed.broke:
            raise _UntoldError(f"the run as if capturing ended early: {executed.broke}")
        if self.finding.code in AROUND:
            raise _UntoldError(
                "it is about what stands around a capture, which the case has none of"
            )
        for note in self.ran.noted:
            if note.is_beside:
                raise _UntoldError(
                    f"another expression on its line did {note.operation} as if capturing,"
                    f" this one was not seen to"
                )
        for culprit in self._blamed():
            raise _UntoldError(
                f"its line is to blame for something else: {culprit.effect.value},"
                f" {culprit.operation or culprit.message}"
            )
        for note in self.ran.noted:
            raise _UntoldError(f"as if capturing, its line did something else: {note.operation}")
        loose = [one.module for one in self.report.culprits if one.place is None]
        loose += [note.module for note in executed.unplaced]
        for module in self.ran.modules:
            if module in loose:
                raise _UntoldError(f"{module or ROOT} is to blame, and no line of it is known")

    def _contradiction(self, effect: Effect, executed: Executed) -> str:
        """Return what contradicts this effect. Raises `_UntoldError` if nothing does."""
        if effect is Effect.STALE:
            return self._not_stale(executed)
        if effect is Effect.LEAKS:
            raise _UntoldError("pad rows were not held against it")
        if effect is Effect.REFUSES:
            self._each(self._check_captured)
        return "neither waited nor copied"

    def _check_captured(self, module: str) -> None:
        verdict = self._judged_around(module)
        if verdict is Verdict.UNDECIDED:
            raise _UntoldError(f"{module or ROOT}, which ran it, is undecided")
        is_enough = self.report.backend == "simulated" and self.finding.code in SHOWN_AT_LINE
        if not is_enough and verdict not in _PASSES:
            raise _UntoldError(f"{module or ROOT}, which ran it, was not captured whole")

    def _not_stale(self, executed: Executed) -> str:
        if self.finding.code not in SHOWN_BY_REPLAYS:
            raise _UntoldError(
                f"{self._how_often()}, and equal replays would not show that it never matters"
            )
        self._each(self._check_replayed)
        if executed.changes:
            raise _UntoldError(
                f"each call changes {executed.changes[0]}; nothing came of it so far"
            )
        if executed.held:
            names = ", ".join(executed.held[:_MOST_SHOWN])
            raise _UntoldError(f"replays had no fresh inputs: {names} did not vary")
        replays = round(self.report.timings.get("replays", 0))
        return f"{replays} replays on fresh inputs were equal"

    def _check_replayed(self, module: str) -> None:
        if self._judged_around(module) not in _PASSES:
            raise _UntoldError(f"no replay of {module or ROOT}, which ran it, was equal")

    def _each(self, check: Callable[[str], None]) -> None:
        for module in self.ran.modules:
            left_out = [path for path in _above(module) if self._is_skipped(path)]
            if left_out:
                raise _UntoldError(f"{left_out[0] or ROOT} was left out of the capture (--skip)")
            check(module)

    def _is_skipped(self, path: str) -> bool:
        return any(fnmatchcase(path, glob) for glob in self.skipped)

    def _judged_around(self, module: str) -> Verdict | None:
        """Return a passing verdict of the module or one around it, else the nearest, or None."""
        found = [self.verdicts[path].verdict for path in _above(module) if path in self.verdicts]
        return next((one for one in found if one in _PASSES), found[0] if found else None)

    def _how_often(self) -> str:
        shown = [path or ROOT for path in self.ran.modules[:_MOST_SHOWN]]
        more = len(self.ran.modules) - len(shown)
        where = ", ".join(shown) + (f" and {more} more" if more else "")
        return f"it ran {_times(self.ran.calls or 0)} as if capturing, in {where}"


def _above(path: str) -> Iterator[str]:
    """Yield the path of a module and of those around it, innermost first."""
    while path:
        yield path
        path = path.rpartition(".")[0]
    yield ""


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
