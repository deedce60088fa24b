"""Judge many cases quickly: each in a process of its own, forked from one that has torch imported.

The tests ask with `reports`; `python -m tests.forked` is the process that forks.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NoReturn

from capturelint.debug.backend import SpentError
from capturelint.debug.processes.request import Request
from capturelint.debug.processes.worker import Tools
from capturelint.debug.wire import decode, encode
from capturelint.errors import CapturelintError
from capturelint.rewrite.allowed import NOTHING, Allowed
from capturelint.verdict import Report
from tests.before_forks import prepare

ROOT = Path(__file__).parents[1]

Answer = Report | str


@dataclass(frozen=True, slots=True)
class _Running:
    """One forked process: what it judges, where it answers, and when it must be done."""

    name: str
    answer: Path
    until: float


def reports(
    requests: Mapping[str, Request],
    *,
    timeout: float = 300.0,
    workers: int = 2,
    imported: tuple[str, ...] = (),
    is_rewriting: bool = False,
    allowed: Allowed = NOTHING,
    above: Path | None = None,
) -> dict[str, Answer]:
    """Return the report on each request, by name, or in words why there is none.

    `timeout`: seconds for each. `imported`: more modules to import before the forks. `is_rewriting`:
    what is to blame is rewritten too, with what is `allowed`. `above`: a folder to import from before all others.
    """
    asked = {
        "requests": {name: encode(request) for name, request in requests.items()},
        "timeout": timeout,
        "workers": workers,
        "imported": imported,
        "is_rewriting": is_rewriting,
        "allowed": allowed.words,
    }
    search = [str(above)] if above else []
    search += filter(None, [os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "tests.forked"],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(search)},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    answers: dict[str, object] = json.loads(done.stdout)
    return {
        name: answer if isinstance(answer, str) else decode(Report, answer)
        for name, answer in answers.items()
    }


def main() -> None:
    """Fork for each request on standard input; write all answers as JSON."""
    asked = json.load(sys.stdin)
    prepare(*asked["imported"])
    import torch

    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    gc.freeze()
    requests = [(name, decode(Request, text)) for name, text in asked["requests"].items()]
    with tempfile.TemporaryDirectory() as folder:
        allowed = Allowed.said(asked["allowed"])
        tools = _tools(is_rewriting=asked["is_rewriting"], allowed=allowed)
        answers = dict(_answers(requests, Path(folder), asked["timeout"], asked["workers"], tools))
    sys.stdout.write(json.dumps(answers))


def _tools(*, is_rewriting: bool, allowed: Allowed) -> Tools:
    if not is_rewriting:
        return Tools()
    from capturelint.rewrite.proof.judge import judge_and_rewrite

    return Tools(judge=partial(judge_and_rewrite, allowed=allowed))


def _answers(
    requests: list[tuple[str, Request]], folder: Path, timeout: float, workers: int, tools: Tools
) -> Iterator[tuple[str, object]]:
    waiting = list(reversed(requests))
    running: dict[int, _Running] = {}
    while waiting or running:
        while waiting and len(running) < workers:
            name, request = waiting.pop()
            answer = folder / str(len(waiting))
            process = os.fork()
            if process == 0:
                _answer(request, answer, tools)
            running[process] = _Running(name, answer, time.monotonic() + timeout)
        for process, one in list(running.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del running[process]
                yield one.name, _read(one.answer, os.waitstatus_to_exitcode(status))
            elif time.monotonic() > one.until:
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
                del running[process]
                yield one.name, f"took longer than {timeout:g} s"
        time.sleep(0.005)


def _answer(request: Request, answer: Path, tools: Tools) -> NoReturn:
    """Judge in this process, write the answer and end."""
    output = os.open(answer.with_suffix(".out"), os.O_WRONLY | os.O_CREAT)
    os.dup2(output, 1)
    os.dup2(output, 2)
    faulthandler.enable(2)
    try:
        content = encode(_judged(request, tools))
    except CapturelintError as error:
        content = f"error: {error}"
    except BaseException:  # noqa: BLE001 - this process ends here, and its parent tells
        content = traceback.format_exc()
    answer.write_text(json.dumps(content))
    os._exit(0)


def _judged(request: Request, tools: Tools) -> Report:
    from capturelint.debug.cases.loading import load
    from capturelint.debug.processes.spawn import worker_command
    from capturelint.debug.processes.supervised import run_by_name
    from capturelint.debug.processes.worker import judged

    settings = request.settings
    case = load(request.target, inputs=request.inputs, call=request.call, settings=settings)
    try:
        return judged(case, settings, {}, lambda event: None, tools=tools)
    except SpentError:
        # What goes on in a fresh process cannot go on in this one.
        return run_by_name(request, command=worker_command(), resume=False, progress=None)


def _read(answer: Path, code: int) -> object:
    if code == 0 and answer.exists():
        return json.loads(answer.read_text())
    said = answer.with_suffix(".out").read_text(errors="replace")[-2000:]
    return f"ended with {code}: {said}"


if __name__ == "__main__":
    main()
