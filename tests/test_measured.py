"""What a GPU did with every example and every row of the table, against what the pages say.

An example or a row that was changed since it ran is skipped with its name: `python -m
tests.record` runs it on a machine with a GPU.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import pytest

from capturelint.bundle import bundled
from capturelint.lint.fixture import examples
from capturelint.lint.measured import Measured, reasons, record_of
from capturelint.lint.registry import RuleEntry, builtin_rules
from capturelint.operations import OPERATIONS
from capturelint.operations.measured import captured

RULES = builtin_rules()

# Operations that no code exercises, and why.
_GROUP = "it needs a group of processes"
WITHOUT_CODE = {
    "numpy.array": "it raises eagerly as well",
    "numpy.asarray": "it raises eagerly as well",
    "torch.distributed.all_gather_object": _GROUP,
    "torch.distributed.barrier": _GROUP,
    "torch.distributed.broadcast_object_list": _GROUP,
    "torch.distributed.gather_object": _GROUP,
    "torch.distributed.recv_object_list": _GROUP,
    "torch.distributed.scatter_object_list": _GROUP,
    "torch.distributed.send_object_list": _GROUP,
    "torch.ops.fbgemm.keyed_jagged_index_select_dim1": "FBGEMM is not installed",
    "torch.ops.fbgemm.permute_1D_sparse_data": "FBGEMM is not installed",
    "torch.ops.fbgemm.permute_2D_sparse_data": "FBGEMM is not installed",
}


@pytest.mark.parametrize("entry", RULES, ids=[entry.code for entry in RULES])
def test_examples_did_what_the_page_says_but_for_those_with_a_reason(entry: RuleEntry) -> None:
    effects = entry.rule.about.effects
    record = record_of(entry.code, entry.fixture)
    others = [one.example for one in record.current if not one.agrees(effects)]
    explained = [name for name in reasons().get(entry.code, {}) if name not in record.missing]

    assert sorted(others) == sorted(explained)


def test_every_example_was_measured() -> None:
    records = {entry.code: record_of(entry.code, entry.fixture) for entry in RULES}
    missing = [f"{code} {name}" for code, record in records.items() for name in record.missing]

    assert sum(len(record.current) for record in records.values()) > 500
    if missing:
        pytest.skip(f"{len(missing)} examples changed since they ran: {', '.join(missing)}")


def test_nothing_is_recorded_of_examples_that_are_gone() -> None:
    texts = {entry.code: entry.fixture.read_text(encoding="utf-8") for entry in RULES}
    named = {(code, node.name) for code, text in texts.items() for node in examples(text, "")}
    recorded = [Measured(**line) for line in _lines("fixtures.jsonl")]
    explained = {(code, name) for code, names in reasons().items() for name in names}

    assert sorted({(one.rule, one.example) for one in recorded} - named) == []
    assert sorted(explained - named) == []


def test_rows_of_the_table_did_what_they_say() -> None:
    others = [
        f"{row.op}, {row.form}: `{line.code}` {line.outcome}"
        for row in OPERATIONS
        for line in captured(row)
        if line.speaks_of(row) and not line.agrees(row)
    ]

    assert others == []


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_every_row_of_the_table_has_code_and_no_code_is_of_another() -> None:
    from tests.record.forms import forms

    rows, written = ({(one.op, one.form) for one in found} for found in (OPERATIONS, forms()))

    assert {op for op, _ in rows - written} == set(WITHOUT_CODE)
    assert sorted(written - rows) == []


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_the_code_of_every_row_is_that_which_ran() -> None:
    from tests.record.forms import forms

    ran = {(line["op"], line["form"], line["source"]) for line in _lines("operations.jsonl")}
    written = {(form.op, form.form, form.source) for form in forms()}

    assert sorted(ran - written) == []
    if written - ran:
        pytest.skip(f"{len(written - ran)} pieces of code changed since they ran")


def _lines(name: str) -> Iterator[dict[str, Any]]:
    path = bundled("fixtures") / "measured" / name
    yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())
