"""What a rule knows of the function it looks at, and what becomes of its reports."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import libcst as cst
import pytest

from capturelint.finding import Effect, Span
from capturelint.kind import DEVICE, HOST, UNKNOWN, Kind, Value
from capturelint.lint.subjects import in_file, is_wanted, reports_of
from capturelint.names import FunctionFacts
from capturelint.rule import (
    About,
    Rule,
    Subject,
    Trait,
    Triggers,
    argument,
    has_star_arguments,
    method_call,
    names,
)
from capturelint.source import SourceFile
from tests.unit.lint.probe import linked

DEVICE_BOOL = Value(Kind.DEVICE_TENSOR, "bool")


class EachCall(Rule):
    """Reports every call, with the kind of its first argument."""

    about: ClassVar[About] = About("CL999", "each-call", (Effect.SLOW,), "0.1")
    triggers: ClassVar[Triggers] = Triggers(names(["f g", "h"]), frozenset({Trait.TENSOR_TEST}))

    def visit_Call(self, node: cst.Call) -> None:
        first = node.args[0].value if node.args else node.func
        self.report(node, f"{self.full_name(node.func)} {self.kind(first).value}")


def _function(last: int, *, first: int = 1, column: int = 0) -> FunctionFacts:
    return FunctionFacts("f", "f", -1, -1, first, first, last, column, ())


def _call(code: str) -> cst.Call:
    node = cst.parse_expression(code)
    assert isinstance(node, cst.Call)
    return node


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("f(x, dim=y)", "y"),
        ("f(x, y)", "y"),
        ("f(x)", None),
        ("f(*xs, y)", None),
        ("f(x, *xs)", None),
        ("f(*xs, dim=y)", None),
        ("f(dim=y)", "y"),
        ("f(**k)", None),
    ],
)
def test_an_argument_is_found_by_keyword_or_position(code: str, value: str | None) -> None:
    found = argument(_call(code), "dim", 1)

    assert (None if found is None else cst.Module([]).code_for_node(found)) == value


def test_an_argument_without_a_position_needs_its_keyword() -> None:
    assert argument(_call("f(x, y)"), "dim") is None
    assert argument(_call("f(*x, dim=y)"), "dim") is not None


@pytest.mark.parametrize(
    ("code", "is_open"), [("f(x)", False), ("f(*x)", True), ("f(**x)", True), ("f(a=x)", False)]
)
def test_star_arguments_are_seen(code: str, is_open: bool) -> None:
    assert has_star_arguments(_call(code)) is is_open


def test_a_method_call_has_a_receiver_and_a_name() -> None:
    found = method_call(_call("x.y.item()"))

    assert found is not None
    assert (cst.Module([]).code_for_node(found[0]), found[1]) == ("x.y", "item")
    assert method_call(_call("item(x)")) is None


def test_words_make_the_names_of_triggers() -> None:
    assert names(["item  tolist", "to(cpu)"]) == {"item", "tolist", "to(cpu)"}


@pytest.mark.parametrize(
    ("noted", "traits", "wanted"),
    [
        ({"f"}, set(), True),
        ({"h", "z"}, set(), True),
        (set(), {Trait.TENSOR_TEST}, True),
        ({"z"}, {Trait.TENSOR_FORMAT}, False),
        (set(), set(), False),
    ],
)
def test_one_trigger_suffices(noted: set[str], traits: set[Trait], wanted: bool) -> None:
    assert is_wanted(EachCall, noted, traits) is wanted


def test_values_move_to_the_file_and_to_characters() -> None:
    source = SourceFile.of("first\n    é = f(x)\n")
    raw = {(2, 9, 2, 13): DEVICE, (2, 4, 2, 6): HOST}

    assert in_file(raw, source, 0) == {Span(2, 8, 2, 12): DEVICE, Span(2, 4, 2, 5): HOST}


def test_a_report_stands_where_the_file_has_it_even_behind_wide_letters() -> None:
    source = SourceFile.of("\n\nclass A:\n    def f(x):\n        '𝄞é'; g(x)\n")
    function = _function(5, first=4, column=4)
    raw = {(3, 18, 3, 22): UNKNOWN, (3, 20, 3, 21): DEVICE}

    said = reports_of([EachCall], source, function, raw, {}, captured=True)

    ((rule, report),) = said
    assert rule is EachCall
    assert report.span == Span(5, 14, 5, 18)
    assert (report.message, report.effects) == (" device tensor", (Effect.SLOW,))


def test_a_report_in_code_that_never_runs_is_dropped() -> None:
    source = SourceFile.of("def f(x):\n    g(x)\n    h(x)\n")
    raw = {(3, 4, 3, 8): UNKNOWN}

    said = reports_of([EachCall], source, _function(3), raw, {}, captured=True)

    assert [report.span.line for _, report in said] == [3]


def test_a_report_of_a_whole_statement_needs_one_part_that_runs() -> None:
    source = SourceFile.of("def f(x):\n    g(\n        x,\n    )\n")
    raw = {(3, 8, 3, 9): DEVICE}

    said = reports_of([EachCall], source, _function(4), raw, {}, captured=True)

    assert [report.span for _, report in said] == [Span(2, 4, 4, 5)]


def test_what_is_not_known_has_no_kind_and_no_name() -> None:
    node = cst.Name("x")
    rule = Rule(Subject("f", {}, {}))

    assert rule.value(node) == UNKNOWN
    assert rule.kind(node) is Kind.UNKNOWN
    assert rule.full_name(node) == ""


def test_the_inner_pair_of_a_chain_has_the_kind_of_its_parts() -> None:
    left, right = cst.Name("a"), cst.Name("b")
    pair = cst.BooleanOperation(left, cst.And(), right)
    places: dict[cst.CSTNode, Span] = {
        left: Span(1, 0, 1, 1),
        right: Span(1, 6, 1, 7),
        pair: Span(1, 0, 1, 7),
    }
    values = {places[left]: DEVICE_BOOL, places[right]: HOST}

    assert Rule(Subject("f", places, values)).kind(pair) is Kind.DEVICE_TENSOR
    assert Rule(Subject("f", places, {**values, places[left]: HOST})).kind(pair) is Kind.HOST_VALUE


def test_a_report_may_have_effects_of_its_own() -> None:
    node = cst.Name("x")
    rule = EachCall(Subject("f", {node: Span(1, 0, 1, 1)}, {}))
    rule.report(node, "one")
    rule.report(node, "two", effects=(Effect.STALE,))

    assert [report.effects for report in rule.reports] == [(Effect.SLOW,), (Effect.STALE,)]


def test_full_names_do_not_depend_on_how_something_was_imported(tmp_path: Path) -> None:
    text = """
        import torch as th, torch.nn.functional as G
        from torch import nn, ops
        from torch.nn.functional import relu as r

        # capturelint: captured
        def step(x):
            th.relu; G.relu; nn.functional.relu; r; int; step
    """
    run = linked(tmp_path, {"m.py": text})
    [state] = run.states()
    names = [value.name for value in state.values.values()]

    assert "torch.relu" in names
    assert names.count("torch.nn.functional.relu") == 3
    assert "builtins.int" in names
    assert names[-1] == ""
