"""One eager run made as if capturing: every line that a capture would stop at or freeze, at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from capturelint.debug.backend import Backend
from capturelint.debug.frames import sourced
from capturelint.debug.running import running
from capturelint.verdict import Hazard


@dataclass(frozen=True, slots=True)
class DryPass:
    """What the pass saw. `calls`: of each module, by path. `broke`: how it ended early, or ""."""

    hazards: tuple[Hazard, ...] = ()
    calls: Mapping[str, int] = field(default_factory=dict)
    broke: str = ""


def dry_pass(
    call: Callable[[], object],
    backend: Backend,
    roots: Mapping[str, object],
    root: str,
    *,
    compiled: bool = False,
) -> DryPass:
    """Return what one eager run of `call`, which runs the callable named `root`, shows.

    `roots`: the callables of the case, by name. `compiled`: compiled code runs as it is. Code that
    asks whether a stream is capturing takes the way it takes then, so that `call` may raise where
    an eager run does not.
    """
    broke = ""
    with (
        running(roots, root) as now,
        backend.as_if_capturing(now.current, compiled=compiled) as hazards,
    ):
        try:
            call()
        except Exception as error:  # noqa: BLE001 - user code may raise anything; the rest was seen
            text = str(error).strip().splitlines() or [""]
            broke = f"{type(error).__name__}: {text[0]}"
    found = tuple(replace(hazard, place=sourced(hazard.place)) for hazard in hazards)
    return DryPass(found, dict(now.calls), broke)


def both(first: DryPass, second: DryPass) -> DryPass:
    """Return what two passes over the same call saw: each hazard once, as the first has it."""
    known = {_key(hazard) for hazard in first.hazards}
    others = tuple(hazard for hazard in second.hazards if _key(hazard) not in known)
    broke = first.broke or second.broke
    return DryPass((*first.hazards, *others), {**second.calls, **first.calls}, broke)


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
