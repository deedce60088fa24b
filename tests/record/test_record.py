"""A record is written in order, and of an earlier one stays what is about things as they are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.record.__main__ import current, run
from tests.record.forms import Form
from tests.record.task import ExampleTask, FormTask, Task

EXAMPLE = ExampleTask("CL101", "bad_int", "0123")
FORM = FormTask(Form("torch.poke", "a form", "torch.poke(x)"))


def record(path: Path, *lines: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_what_has_not_changed_need_not_run_again(tmp_path: Path) -> None:
    line = {**EXAMPLE.key, "source": "0123", "outcome": "refuses-capture"}
    changed = ExampleTask("CL101", "bad_int", "4567")
    path = record(tmp_path / "fixtures.jsonl", line)

    assert current([EXAMPLE], path) == {EXAMPLE: line}
    assert current([changed], path) == {}
    assert current([EXAMPLE], tmp_path / "none.jsonl") == {}


def test_a_row_whose_form_is_worded_otherwise_keeps_what_its_code_came_to(tmp_path: Path) -> None:
    line = {**FORM.key, "form": "older words", "source": FORM.source, "outcome": "captures"}
    path = record(tmp_path / "operations.jsonl", line)

    assert current([FORM], path) == {FORM: line | {"form": "a form"}}


def test_lines_are_in_the_order_of_the_tasks(tmp_path: Path) -> None:
    tasks: list[Task] = [EXAMPLE, ExampleTask("CL101", "good_sizes", "89")]
    known = {task: {**task.key, "outcome": "captures"} for task in reversed(tasks)}
    run(tasks, tmp_path / "fixtures.jsonl", {}, known=known)
    written = (tmp_path / "fixtures.jsonl").read_text().splitlines()

    assert [json.loads(line) for line in written] == [known[task] for task in tasks]
