"""Judge many tasks in forked processes: many in one, until it is spoilt or too slow."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Generic, Protocol, TypeVar

from tests.record.outcome import UNDECIDED, Outcome


class Alone(Protocol):
    """A task that may ask for a process of its own."""

    @property
    def is_alone(self) -> bool: ...


_Task = TypeVar("_Task", bound=Alone)
# What a task came to, and whether the process is fit for another.
Judge = Callable[[_Task], tuple[Outcome, bool]]


@dataclass(slots=True)
class _Worker(Generic[_Task]):
    process: multiprocessing.process.BaseProcess
    connection: Connection
    task: _Task
    until: float

    def give(self, task: _Task, timeout: float) -> None:
        self.task, self.until = task, time.monotonic() + timeout
        self.connection.send(task)

    def end(self) -> None:
        self.connection.close()
        if self.process.is_alive():
            self.process.kill()
        self.process.join()


def outcomes(
    tasks: Iterable[_Task], judge: Judge[_Task], *, workers: int, timeout: float
) -> Iterator[tuple[_Task, Outcome]]:
    """Yield what each task came to, as they are done. `timeout`: seconds for each.

    This process must not have used the device: its forks could not.
    """
    gc.freeze()
    # Those that need a process of their own are slow, and begin first.
    waiting = deque(sorted(tasks, key=lambda task: not task.is_alone))
    running: list[_Worker[_Task]] = []
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                running.append(_started(waiting.popleft(), judge, timeout))
            wait([worker.connection for worker in running], timeout=0.5)
            for worker in list(running):
                answer = _answer(worker)
                if answer is None:
                    continue
                outcome, is_fit = answer
                yield worker.task, outcome
                if is_fit and waiting and not waiting[0].is_alone:
                    worker.give(waiting.popleft(), timeout)
                else:
                    worker.end()
                    running.remove(worker)
    finally:
        for worker in running:
            worker.end()


def _started(task: _Task, judge: Judge[_Task], timeout: float) -> _Worker[_Task]:
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_serve, args=(there, judge))
    process.start()
    there.close()
    worker = _Worker(process, here, task, 0.0)
    worker.give(task, timeout)
    return worker


def _answer(worker: _Worker[_Task]) -> tuple[Outcome, bool] | None:
    """Return the answer that has come; one of our own if there will be none; None if it may come."""
    if worker.connection.poll():
        try:
            answer: tuple[Outcome, bool] = worker.connection.recv()
        except (EOFError, ConnectionError):
            worker.process.join()
            code = worker.process.exitcode
            return Outcome(UNDECIDED, f"the process ended with {code}"), False
        return answer
    if time.monotonic() > worker.until:
        return Outcome(UNDECIDED, "took too long"), False
    return None


def _serve(connection: Connection, judge: Judge[_Task]) -> None:
    """Answer until the other side is gone or this process is spoilt. What is printed is dropped."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            try:
                outcome, is_fit = judge(connection.recv())
            except RuntimeError as error:  # such as a context of CUDA that is lost
                outcome, is_fit = (
                    Outcome(UNDECIDED, f"{type(error).__name__}: {error}"[:240]),
                    False,
                )
            connection.send((outcome, is_fit))
            if not is_fit:
                # Without the end of Python: a context that is spoilt may hang there.
                os._exit(0)
