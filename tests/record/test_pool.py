"""The pool that judges tasks in forked processes: every task has an answer, whatever happens."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

import pytest

pytest.importorskip("torch")

from tests.record.outcome import EQUAL, UNDECIDED, Outcome
from tests.record.pool import outcomes


@dataclass(frozen=True)
class Asked:
    name: str
    is_alone: bool = False


def judge(task: Asked) -> tuple[Outcome, bool]:
    """Answer with the process that judged; `ends`, `hangs`, `raises` and `spoils` do what they say."""
    if task.name == "ends":
        os._exit(3)
    if task.name == "hangs":
        time.sleep(60)
    if task.name == "raises":
        raise RuntimeError("lost")
    return Outcome(EQUAL, str(os.getpid())), task.name != "spoils" and not task.is_alone


def answers(*tasks: Asked, timeout: float = 30.0) -> dict[str, Outcome]:
    found = outcomes(tasks, judge, workers=1, timeout=timeout)
    return {task.name: outcome for task, outcome in found}


def test_one_process_judges_many_tasks() -> None:
    found = answers(Asked("a"), Asked("b"), Asked("c"))

    assert len({outcome.error for outcome in found.values()}) == 1


def test_after_a_task_that_spoils_its_process_comes_a_new_one() -> None:
    found = answers(Asked("spoils"), Asked("b"), Asked("c"))

    assert found["spoils"].error != found["b"].error == found["c"].error


def test_a_task_that_is_to_be_alone_shares_its_process_with_none() -> None:
    found = answers(Asked("a"), Asked("b", is_alone=True), Asked("c"))

    assert found["b"].error not in {found["a"].error, found["c"].error}


def test_a_process_that_ends_or_raises_is_an_answer_and_the_next_task_is_judged() -> None:
    found = answers(Asked("ends"), Asked("raises"), Asked("c"))

    assert found["ends"] == Outcome(UNDECIDED, "the process ended with 3")
    assert found["raises"] == Outcome(UNDECIDED, "RuntimeError: lost")
    assert found["c"].outcome == EQUAL


def test_a_task_that_hangs_is_given_up() -> None:
    found = answers(Asked("hangs"), Asked("b"), timeout=1.0)

    assert found["hangs"] == Outcome(UNDECIDED, "took too long")
    assert found["b"].outcome == EQUAL
