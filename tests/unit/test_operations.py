"""The table of operations holds together, and its rows are read as they are written."""

from __future__ import annotations

import re

from capturelint.finding import Effect
from capturelint.operations import OPERATIONS, Operation, operations_of
from capturelint.operations.operation import refusing, safe, stale


def rows_named(op: str) -> list[Operation]:
    return [row for row in OPERATIONS if row.op == op]


def test_no_operation_has_two_rows_for_one_form() -> None:
    forms = [(row.op, row.form) for row in OPERATIONS]

    assert len(set(forms)) == len(forms)


def test_only_a_hazard_names_a_rule() -> None:
    assert [row for row in OPERATIONS if row.effect is None and row.rule] == []


def test_names_say_what_is_called() -> None:
    owners = r"(Tensor|torch|builtins|math|numpy|operator|warnings|logging|str)(\.\w+)+"
    # Python's own statements and operators have no owner.
    words = ["if", "while", "ternary", "and", "or", "not", "match", "assert", "for", "f-string"]
    others = [
        row.op for row in OPERATIONS if not re.fullmatch(owners, row.op) and row.op not in words
    ]

    assert others == []


def test_versions_are_ranges() -> None:
    pattern = re.compile(r">=\d+\.\d+(,<\d+\.\d+)?")

    assert [row for row in OPERATIONS if not pattern.fullmatch(row.torch)] == []


def test_a_row_for_every_form_stands_alone() -> None:
    """Rules take such a row for all calls of that name, so no other row may contradict it."""
    everywhere = [row for row in OPERATIONS if row.form == "" and row.effect is not None]
    contradicted = [
        row.op
        for row in everywhere
        if any(other.effect is None and not other.form for other in rows_named(row.op))
    ]

    assert everywhere
    assert contradicted == []


def test_look_alikes_of_a_hazard_have_rows_of_their_own() -> None:
    effects = {row.form: row.effect for row in rows_named("Tensor.masked_fill")}

    assert effects == {
        "a 0-d device tensor as value": Effect.REFUSES,
        "a number or a 0-d tensor on the host": None,
    }


def test_a_copy_to_the_host_refuses_or_goes_stale_by_its_form() -> None:
    effects = [row.effect for row in operations_of("CL102") if row.op == "Tensor.to"]

    assert effects == [Effect.REFUSES, Effect.STALE]


def test_operations_of_a_rule_come_in_table_order() -> None:
    rows = operations_of("CL301")

    assert rows == tuple(row for row in OPERATIONS if row in rows)
    assert rows[0].op == "torch.nonzero"
    assert {row.rule for row in rows} == {"CL301"}


def test_operations_of_an_unknown_rule_are_none() -> None:
    assert operations_of("CL999") == ()


def test_what_spares_a_call_is_kept_with_its_row() -> None:
    (row,) = (row for row in operations_of("CL301") if row.op == "torch.histc")

    assert (row.spared_by, row.spared_from) == (("min", "max"), 3)


def test_one_line_of_data_gives_a_row_for_each_name() -> None:
    rows = refusing("CL101", "Tensor.item Tensor.tolist", "a form")

    assert [row.op for row in rows] == ["Tensor.item", "Tensor.tolist"]
    assert {(row.form, row.effect, row.rule) for row in rows} == {
        ("a form", Effect.REFUSES, "CL101")
    }


def test_safe_rows_name_no_rule() -> None:
    (row,) = safe("torch.where")

    assert (row.effect, row.rule, row.form) == (None, "", "")


def test_stale_rows_have_that_effect() -> None:
    (row,) = stale("CL205", "Tensor.__mul__")

    assert (row.effect, row.rule) == (Effect.STALE, "CL205")
