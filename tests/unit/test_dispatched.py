"""The dispatcher's table holds together: words, rules, messages and the order of its rows."""

from __future__ import annotations

import re
from pathlib import Path

from capturelint.finding import Effect
from capturelint.operations.dispatched import DISPATCHED, FUSED, HANDLES, Dispatched
from capturelint.operations.dispatched.row import refusing, safe
from capturelint.operations.messages import NOT_PERMITTED, UNPINNED

RULES = {path.name[:5].upper() for path in (Path(__file__).parents[2] / "rules").glob("cl*.py")}


NAMED: list[tuple[str, str]] = [
    *((row.op, row.checked) for row in DISPATCHED),
    *((row.op, row.checked) for row in (*HANDLES, *FUSED)),
]


def rows_about(op: str) -> list[Dispatched]:
    return [row for row in DISPATCHED if row.op == op]


def test_names_are_those_of_the_dispatcher() -> None:
    odd = [name for name, _ in NAMED if not re.fullmatch(r"aten::\w+(\.\w+)?", name)]

    assert odd == []


def test_no_form_of_an_operation_has_two_rows() -> None:
    traps = [(row.op, row.form) for row in DISPATCHED]
    handles = [(row.op, row.form) for row in (*HANDLES, *FUSED)]

    assert len(set(traps)) == len(traps)
    assert len(set(handles)) == len(handles)


def test_nothing_follows_the_row_for_every_form() -> None:
    """The first row that fits decides, so that later ones would never be asked."""
    late = [
        row
        for index, row in enumerate(DISPATCHED)
        for earlier in DISPATCHED[:index]
        if earlier.op == row.op and earlier.form == ""
    ]

    assert late == []


_BACKENDS = ("dispatched", "simulated", "cuda")


def test_rules_exist() -> None:
    """Users are told to run `capturelint rule CODE`."""
    codes = {row.rule for row in DISPATCHED if row.rule}

    assert codes
    assert codes <= RULES


def test_rules_that_the_backends_name_exist() -> None:
    debug = Path(__file__).parents[2] / "capturelint" / "debug"
    paths = [path for name in _BACKENDS for path in sorted((debug / name).glob("*.py"))]
    text = "".join(path.read_text(encoding="utf-8") for path in paths)

    assert set(re.findall(r'"(CL\d+)"', text)) <= RULES


def test_every_refusal_says_what_cuda_says() -> None:
    refusals = [row for row in DISPATCHED if row.effect is Effect.REFUSES]

    assert refusals
    assert [row for row in refusals if not row.message or not row.kind] == []


def test_safe_forms_name_no_rule_and_no_message() -> None:
    harmless = [row for row in DISPATCHED if row.effect is None]

    assert harmless
    assert {(row.rule, row.message, row.kind) for row in harmless} == {("", "", "")}


def test_every_row_says_how_it_is_known() -> None:
    known = {checked for _, checked in NAMED}

    assert known == {"source", "H200, torch 2.11.0+cu130"}


def test_look_alikes_of_a_hazard_come_before_it() -> None:
    forms = [(row.form, row.effect) for row in rows_about("aten::equal")]

    assert forms == [("the same memory, or other sizes", None), ("", Effect.REFUSES)]


def test_copies_refuse_by_what_they_copy() -> None:
    messages = {row.form: row.message for row in rows_about("aten::_to_copy")}

    assert messages == {
        "no elements": "",
        "unpinned memory to the device": UNPINNED,
        "pinned memory to the device, waiting": NOT_PERMITTED,
        "the device to unpinned memory": UNPINNED,
    }


def test_a_handle_names_its_library_and_its_message() -> None:
    pairs = {(row.library, row.message[:6]) for row in (*HANDLES, *FUSED)}

    assert pairs == {
        ("", ""),
        ("cuBLAS", "CUDA e"),
        ("cuDNN", "cuDNN "),
        ("cuFFT", "cuFFT "),
        ("cuSOLVER", "cusolv"),
    }


def test_one_line_of_data_gives_a_row_for_each_name() -> None:
    rows = refusing("CL301", "nonzero masked_select", "a form", kind="shape")

    assert [row.op for row in rows] == ["aten::nonzero", "aten::masked_select"]
    assert {(row.form, row.rule, row.message) for row in rows} == {
        ("a form", "CL301", NOT_PERMITTED)
    }


def test_safe_rows_need_a_form() -> None:
    (row,) = safe("equal", "a form")

    assert (row.effect, row.form) == (None, "a form")
