"""Run a case in child processes: one by name in fresh ones, one that is in memory in forks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from capturelint.debug.backend import SpentError
from capturelint.debug.events import Event, Judged, Said
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes.child import Child
from capturelint.debug.processes.journal import Journal, found_before
from capturelint.debug.processes.request import Request
from capturelint.debug.processes.salvage import salvaged
from capturelint.debug.processes.spawn import forked, spawned
from capturelint.debug.processes.supervisor import CaseFailedError, supervise
from capturelint.debug.processes.worker import Emit, Tools, judged, raising, serve
from capturelint.debug.settings import Settings
from capturelint.errors import CapturelintError
from capturelint.verdict import Report

if TYPE_CHECKING:
    from capturelint.debug.cases.case import Case

Progress: TypeAlias = Callable[[str], object]

_HERE = "judged in the calling process, which a hang or a crash of the case would have ended"


def run_by_name(
    request: Request, *, command: Sequence[str], resume: bool, progress: Progress | None
) -> Report:
    """Return the report on the case that `request` names, run by `command` in fresh processes.

    What is found is kept in a file until the run ends; `resume` begins with what is in it.
    """
    known = found_before(request) if resume else {}
    journal = Journal(request, is_resumed=bool(known))
    notes = [_resumed(len(known))] if resume else []

    def start(known: Mapping[str, Outcome]) -> Child:
        return spawned(replace(request, known=known), command)

    def watch(event: Event) -> None:
        journal.keep(event)
        _tell(progress, event)

    with _kept(journal):
        report = supervise(
            start, case=request.target, timeout=request.settings.timeout, known=known, watch=watch
        )
    if journal.problem:
        notes.append(f"nothing is kept for --resume: {journal.problem}")
    return replace(report, notes=(*report.notes, *notes))


def run_live(
    load: Callable[[], Case],
    settings: Settings,
    *,
    case: str,
    tools: Tools,
    progress: Progress | None,
) -> Report:
    """Return the report on the case that `load` returns, run in forks of this process.

    `case`: what to call it. Where there is no `fork`, and on a GPU, whose driver does not survive
    one, it is run in this process.
    """
    if not hasattr(os, "fork") or _is_on_device(settings):
        return _run_here(load, settings, case=case, tools=tools, progress=progress)

    def start(known: Mapping[str, Outcome]) -> Child:
        def work(emit: Emit) -> Report:
            _use_one_thread()
            return judged(load, settings, known, emit, tools=tools)

        def serve_work(events: int, lifeline: int) -> NoReturn:
            serve(events, lifeline, work)

        return forked(serve_work)

    return supervise(
        start,
        case=case,
        timeout=settings.timeout,
        known={},
        watch=lambda event: _tell(progress, event),
    )


def _run_here(
    load: Callable[[], Case],
    settings: Settings,
    *,
    case: str,
    tools: Tools,
    progress: Progress | None,
) -> Report:
    known: dict[str, Outcome] = {}

    def watch(event: Event) -> None:
        if isinstance(event, Judged):
            known[event.step] = event.outcome
        _tell(progress, event)

    try:
        report = judged(load, settings, {}, watch, tools=tools)
    except SystemExit as error:
        raise CaseFailedError(f"{case} {raising(error)}") from error
    except SpentError as error:
        # What was found before still stands; this process cannot find more.
        report = salvaged(case, known, why=str(error), backend="cuda", environment={})
    return replace(report, case=case, notes=(*report.notes, _HERE))


def _is_on_device(settings: Settings) -> bool:
    """Return whether the case would run on a GPU."""
    from capturelint.debug.backends import why_no_device

    return settings.backend != "simulated" and not why_no_device()


def _use_one_thread() -> None:
    """Keep torch from waiting for the threads of its pool, which a fork does not have."""
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.set_num_threads(1)


@contextmanager
def _kept(journal: Journal) -> Iterator[None]:
    """Keep the file of a run that is broken off, so that it can be resumed."""
    is_done = False
    try:
        yield
        is_done = True
    except CapturelintError:
        is_done = True  # the case is to be mended first: there is nothing to go on with
        raise
    finally:
        journal.close(is_done=is_done)


def _tell(progress: Progress | None, event: Event) -> None:
    if progress is not None and isinstance(event, Said):
        progress(event.text)


def _resumed(count: int) -> str:
    if count == 0:
        return "no earlier run of this case was found to resume"
    return f"resumed: {count} outcomes are from an earlier run"
