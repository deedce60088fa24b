"""One eager run made as if capturing: every line that a capture would stop at or freeze, at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from capturelint.debug.backend import Backend
from capturelint.debug.counting import counting, real
from capturelint.debug.frames import sourced
from capturelint.debug.running import running
from capturelint.debug.states.state import Change
from capturelint.execution import Asked, Executed, Noted, Ran
from capturelint.verdict import Act, Hazard


@dataclass(frozen=True, slots=True)
class DryPass:
    """What the pass saw. `calls`: of each module, by path. `broke`: how it ended early, or "".

    `ran`: what was run of each stretch that was asked about.
    """

    hazards: tuple[Hazard, ...] = ()
    calls: Mapping[str, int] = field(default_factory=dict)
    broke: str = ""
    ran: tuple[Ran, ...] = ()


def dry_pass(
    call: Callable[[], object],
    backend: Backend,
    roots: Mapping[str, object],
    root: str,
    *,
    compiled: bool = False,
    asked: Sequence[Asked] = (),
) -> DryPass:
    """Return what one eager run of `call`, which runs the callable named `root`, shows.

    `roots`: the callables of the case, by name. `compiled`: compiled code runs as it is. `asked`:
    stretches of files to watch. Code that asks whether a stream is capturing takes the way it takes then, so that `call` may raise where
    an eager run does not.
    """
    broke = ""
    with (
        running(roots, root) as now,
        backend.as_if_capturing(now.current, compiled=compiled) as hazards,
        counting(asked, now.current) as counts,
    ):
        try:
            call()
        except Exception as error:  # noqa: BLE001 - user code may raise anything; the rest was seen
            text = str(error).strip().splitlines() or [""]
            broke = f"{type(error).__name__}: {text[0]}"
    found = tuple(replace(hazard, place=sourced(hazard.place)) for hazard in hazards)
    ran = tuple(
        replace(ran, noted=noted(found, one)) for ran, one in zip(counts.ran(), asked, strict=True)
    )
    return DryPass(found, dict(now.calls), broke, ran)


def noted(hazards: Iterable[Hazard], asked: Asked | None) -> tuple[Noted, ...]:
    """Return what was noted of a stretch; with None, what was noted of no line."""
    if asked is None:
        loose = [one for one in hazards if not one.place.path]
        return tuple(Noted(one.module, one.operation, one.effect, one.message) for one in loose)
    return tuple(
        Noted(one.module, act.operation, act.effect, one.message, is_beside=_is_beside(act, asked))
        for one in hazards
        if asked.has_line(one.place.line) and real(one.place.path) == asked.path
        for act in one.acts
    )


def _is_beside(act: Act, asked: Asked) -> bool:
    return act.span is not None and asked.is_beside(act.span)


def executed(
    passes: Sequence[DryPass],
    asked: Sequence[Asked],
    changes: Iterable[Change],
    held: Sequence[str],
) -> Executed | None:
    """Return what was run of all that was asked, by all callables; None if nothing was asked.

    `changes`: of state, by each call. `held`: inputs that do not vary.
    """
    if not asked:
        return None
    broke = next((one.broke for one in passes if one.broke), "")
    told = [one.ran or tuple(Ran() for _ in asked) for one in passes]
    return Executed(
        tuple(_together(one) for one in zip(*told, strict=True)),
        broke,
        noted((hazard for one in passes for hazard in one.hazards), None),
        tuple(f"{one.name} ({one.before} -> {one.after})" for one in changes),
        tuple(held),
    )


def _together(ran: Sequence[Ran]) -> Ran:
    """Return what several callables ran of one stretch."""
    calls = [one.calls for one in ran if one.calls is not None]
    return Ran(
        calls=sum(calls) if len(calls) == len(ran) else None,
        entered=sum(one.entered for one in ran),
        lines=sum(one.lines for one in ran),
        modules=tuple(dict.fromkeys(path for one in ran for path in one.modules)),
        noted=tuple(note for one in ran for note in one.noted),
        is_file_run=any(one.is_file_run for one in ran),
    )


def both(first: DryPass, second: DryPass) -> DryPass:
    """Return what two passes over the same call saw: each hazard once, as the first has it."""
    known = {_key(hazard) for hazard in first.hazards}
    others = tuple(hazard for hazard in second.hazards if _key(hazard) not in known)
    broke = first.broke or second.broke
    return DryPass((*first.hazards, *others), {**second.calls, **first.calls}, broke, first.ran)


def _key(hazard: Hazard) -> tuple[str, int, str]:
    return hazard.place.path, hazard.place.line, hazard.module


def by_line(hazards: Iterable[Hazard]) -> list[Hazard]:
    """Return each line once, as seen in the first module that ran it."""
    lines: dict[tuple[str, int], Hazard] = {}
    for one in hazards:
        key = (one.place.path, one.place.line)
        before = lines.get(key)
        lines[key] = one if before is None else replace(before, calls=before.calls + one.calls)
    return list(lines.values())
