"""A worker whose engine needs no torch: a case is a dictionary of functions, one for each part.

A part passes if its function returns, and refuses if it raises.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from capturelint.debug.cases.mistakes import CaseError, raised
from capturelint.debug.events import Judged, Said, Started
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes import worker
from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.verdict import ModuleVerdict, Report, Verdict, worst

ROOT = Path(__file__).parents[4]
_START = """\
import sys
sys.path.insert(0, sys.argv.pop())
from tests.unit.debug.processes.stand_in import TOOLS, worker
worker.main(TOOLS)
"""
COMMAND = (sys.executable, "-c", _START, str(ROOT))


class StandInBackend:
    name = "stand-in"

    @contextmanager
    def session(self) -> Iterator[None]:
        yield

    def environment(self) -> Mapping[str, str]:
        return {"device": "none"}

    def spent(self) -> str:
        return ""


def load(request: Request) -> Callable[[], Any]:
    return lambda: made(Path(request.target.removesuffix(":make")))


def made(path: Path) -> dict[str, Callable[[], object]]:
    names: dict[str, Any] = {"__name__": "case"}
    try:
        exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), names)
        parts = names["make"]()
    except Exception as error:
        raise raised(f"{path.name}:make", error) from error
    if not isinstance(parts, dict):
        raise CaseError(f"{path.name}:make returns {parts!r}; return a dictionary of functions")
    return parts


def judge(
    load: Callable[[], Any],
    backend: Any,
    _settings: Settings,
    *,
    known: Mapping[str, Outcome],
    emit: worker.Emit,
) -> Report:
    emit(Started("load"))
    parts = load()
    emit(Started("warm up"))
    parts.pop("warm up", lambda: None)()
    modules = []
    for count, (path, run) in enumerate(parts.items(), 1):
        step = f"judge {path}"
        outcome = known.get(step)
        if outcome is None:
            emit(Said(f"judging {path} ({count} of {len(parts)})"))
            emit(Started(step))
            outcome = attempt(run)
            emit(Judged(step, outcome))
        modules.append(ModuleVerdict(path, "Part", outcome.verdict, 1, outcome.why))
    verdict = worst(module.verdict for module in modules)
    return Report(str(len(parts)), backend.name, verdict, tuple(modules))


def attempt(run: Callable[[], object]) -> Outcome:
    try:
        run()
    except Exception as error:  # noqa: BLE001 - a part may raise anything
        return Outcome(Verdict.REFUSES, message=str(error))
    return Outcome(Verdict.EQUAL)


TOOLS = worker.Tools(load, lambda name: (StandInBackend(), ()), judge)  # type: ignore[arg-type,return-value]
