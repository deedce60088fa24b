"""The child process: it runs the user's code, and tells its parent what happens."""

from __future__ import annotations

import faulthandler
import io
import json
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias

from capturelint.debug import backends
from capturelint.debug.backend import Backend, SpentError
from capturelint.debug.cases.loaded_files import stamps_of_loaded
from capturelint.debug.events import (
    Event,
    Failed,
    Fault,
    Finished,
    Loaded,
    Ready,
    Said,
    Stopped,
)
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes.channel import Channel, end_with_parent
from capturelint.debug.processes.forks import end_copies_that_return
from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.debug.wire import decode
from capturelint.errors import CapturelintError
from capturelint.verdict import Report

if TYPE_CHECKING:
    from capturelint.debug.cases.case import Case

Emit: TypeAlias = Callable[[Event], None]


class Judge(Protocol):
    """Judges the case that `load` returns; leaves out the steps that are `known`."""

    def __call__(
        self,
        load: Callable[[], Case],
        backend: Backend,
        settings: Settings,
        *,
        known: Mapping[str, Outcome],
        emit: Emit,
    ) -> Report: ...


def _load(request: Request) -> Callable[[], Case]:
    from capturelint.debug.cases.loading import load

    return load(request.target, inputs=request.inputs, call=request.call, settings=request.settings)


def _judge(
    load: Callable[[], Case],
    backend: Backend,
    settings: Settings,
    *,
    known: Mapping[str, Outcome],
    emit: Emit,
) -> Report:
    from capturelint.debug.engine import judge

    return judge(load, backend, settings, known=known, emit=emit)


@dataclass(frozen=True, slots=True)
class Tools:
    """What a run is made of. The defaults import torch when they are called."""

    load: Callable[[Request], Callable[[], Case]] = _load
    choose: Callable[[Settings], tuple[Backend, tuple[str, ...]]] = backends.chosen
    judge: Judge = _judge


def main(tools: Tools | None = None) -> NoReturn:
    """Judge the request on standard input; speak on what was standard output."""
    request = decode(Request, json.loads(sys.stdin.buffer.readline()))
    tools = Tools() if tools is None else tools
    sys.argv = [request.target]

    load = loading_late(lambda: tools.load(request))

    def work(emit: Emit) -> Report:
        return judged(load, request.settings, request.known, emit, tools=tools)

    serve(os.dup(1), os.dup(0), work)


def loading_late(loader: Callable[[], Callable[[], Case]]) -> Callable[[], Case]:
    """Return what loads with `loader()`, which is called once, when a case is wanted.

    By then the backend is chosen, which says it in one line if torch cannot be imported.
    """
    made = cache(loader)

    def load() -> Case:
        return made()()

    return load


def judged(
    load: Callable[[], Case],
    settings: Settings,
    known: Mapping[str, Outcome],
    emit: Emit,
    *,
    tools: Tools,
) -> Report:
    """Return what is found about the case that `load` returns. Runs user code in this process."""
    emit(Said("importing torch"))
    backend, notes = tools.choose(settings)
    folder = Path.cwd()

    def load_and_tell() -> Case:
        os.chdir(folder)  # the case may have left it since it was last loaded
        case = load()
        emit(Loaded(stamps_of_loaded()))
        return case

    with backend.session():
        emit(Ready(backend.name, backend.environment()))
        try:
            report = tools.judge(load_and_tell, backend, settings, known=known, emit=emit)
        except Exception as error:
            # Once the device is lost, anything may fail anywhere.
            why = "" if isinstance(error, CapturelintError) else backend.spent()
            if why:
                raise SpentError(why) from error
            raise
    return replace(report, notes=(*notes, *report.notes))


def serve(events: int, lifeline: int, work: Callable[[Emit], Report]) -> NoReturn:
    """Do `work`, tell `events` about it, and end this process, which is there for nothing else.

    What user code prints goes to standard error; its standard input is empty.
    """
    channel = Channel(events)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    end_with_parent(lifeline, private=(1, 2, channel.fileno()))
    end_copies_that_return()
    _leave_no_core_file()
    _open_streams()
    _show_where_it_dies()
    _tell(work, channel.send)
    os._exit(0)  # threads and exit handlers of user code must not keep it


def _tell(work: Callable[[Emit], Report], emit: Emit) -> None:
    try:
        emit(Finished(work(emit)))
    except CapturelintError as error:
        emit(Failed(Fault.USERS, str(error)))
    except Exception:  # noqa: BLE001 - the parent shows it and says that it is our bug
        emit(Failed(Fault.OURS, traceback.format_exc()))
    except SpentError as error:
        emit(Stopped(str(error)))
    except BaseException as error:  # noqa: BLE001 - only user code raises SystemExit and its like here
        emit(Stopped(raising(error)))


def raising(error: BaseException) -> str:
    """Return in words that `error`, which ends programs, was raised."""
    text = (str(error).splitlines() or [""])[0][:200]
    return f"raised {type(error).__name__}{': ' if text else ''}{text}"


def _open_streams() -> None:
    """Give Python new standard streams: a fork has its parent's, which may go anywhere."""
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = _text(1)
    sys.stderr = _text(2)


def _text(descriptor: int) -> io.TextIOWrapper:
    raw = open(descriptor, "wb", closefd=False)  # noqa: SIM115
    # Lines leave at once, so that the last ones are there after a crash.
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", line_buffering=True)


def _show_where_it_dies() -> None:
    """Print the stack to standard error on a crash, and when the parent asks before it kills."""
    faulthandler.enable(all_threads=False)
    if hasattr(faulthandler, "register"):
        faulthandler.register(signal.SIGUSR2, all_threads=False)


def _leave_no_core_file() -> None:
    """Keep the system from writing the memory of a child that crashes, many GiB, to a file."""
    with suppress(ImportError):  # Windows has no such files
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_CORE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, most))
