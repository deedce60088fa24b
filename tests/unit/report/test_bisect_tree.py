"""The tree of modules: what is shown, what is folded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from capturelint.report.bisect_tree import module_tree
from capturelint.report.outline import plain
from capturelint.verdict import VARIES, ModuleVerdict, Report, Verdict
from tests.unit.report.reports import module

REFUSES, EQUAL = Verdict.REFUSES, Verdict.EQUAL


def shown(
    *modules: ModuleVerdict, blamed: Mapping[str, tuple[str, ...]] | None = None
) -> list[str]:
    report = Report("c", "simulated", REFUSES, modules)
    return plain(module_tree(report, blamed or {})).splitlines()


def test_a_model_that_passes_is_one_line() -> None:
    assert shown(module("", EQUAL, "Model")) == ["<root> (Model): replays-equal"]


def test_passing_subtrees_are_folded_to_one_line() -> None:
    assert shown(
        module("", REFUSES, "Model"),
        module("embed", EQUAL),
        module("embed.tokens", EQUAL),
        module("head", REFUSES),
        module("norm", Verdict.NOT_CALLED),
        blamed={"head": ("m.py:3", "m.py:9")},
    ) == [
        "<root> (Model): refuses-capture",
        "  head (Block): refuses-capture at m.py:3, m.py:9",
        "  ... 2 modules replay equal",
        "  ... 1 module not called",
    ]


def test_a_passing_module_around_one_that_does_not_pass_is_shown() -> None:
    assert shown(
        module("", EQUAL), module("a", EQUAL), module("a.b", Verdict.NONDETERMINISTIC)
    ) == [
        "<root> (Block): replays-equal",
        "  a (Block): replays-equal",
        "    a.b (Block): nondeterministic",
    ]


def test_a_module_hangs_on_the_nearest_judged_one_around_it() -> None:
    assert shown(
        module("", REFUSES), module("model.layers.0", REFUSES), module("model.layers.0.mlp.up", REFUSES)
    ) == [
        "<root> (Block): refuses-capture",
        "  model.layers.0 (Block): refuses-capture",
        "    model.layers.0.mlp.up (Block): refuses-capture",
    ]  # fmt: skip


def test_several_callables_are_several_trees() -> None:
    assert shown(module("draft", EQUAL), module("target", REFUSES), module("target.h", REFUSES)) == [
        "draft (Block): replays-equal",
        "target (Block): refuses-capture",
        "  target.h (Block): refuses-capture",
    ]  # fmt: skip


def layer(number: int, *, inner: Verdict = REFUSES) -> list[ModuleVerdict]:
    path = f"layers.{number}"
    return [module(path, REFUSES), module(f"{path}.mlp", inner), module(f"{path}.norm", EQUAL)]


def test_layers_alike_are_shown_once() -> None:
    layers = [one for number in range(4) for one in layer(number)]
    blamed = {f"layers.{number}.mlp": ("m.py:3",) for number in range(4)}

    assert shown(module("", REFUSES), *layers, blamed=blamed) == [
        "<root> (Block): refuses-capture",
        "  layers.0 (Block): refuses-capture",
        "    layers.0.mlp (Block): refuses-capture at m.py:3",
        "    ... 1 module replays equal",
        "  layers.1 .. layers.3: same as layers.0",
    ]


def test_layers_that_differ_in_a_verdict_or_a_line_are_shown_apart() -> None:
    layers = [*layer(0), *layer(1, inner=EQUAL), *layer(2)]

    differ_inside = shown(module("", REFUSES), *layers)
    differ_in_line = shown(
        module("", REFUSES),
        *layer(0),
        *layer(1),
        blamed={"layers.0.mlp": ("m.py:3",), "layers.1.mlp": ("m.py:4",)},
    )

    assert "  layers.2: same as layers.0" in differ_inside
    assert "  layers.1 (Block): refuses-capture" in differ_inside
    assert "  layers.1 (Block): refuses-capture" in differ_in_line


def test_siblings_with_names_are_never_folded() -> None:
    assert shown(module("", REFUSES), module("query", REFUSES), module("key", REFUSES))[1:] == [
        "  query (Block): refuses-capture",
        "  key (Block): refuses-capture",
    ]


def test_modules_that_receive_other_arguments_in_each_step_are_counted() -> None:
    varies = replace(module("a", Verdict.UNDECIDED), why=f"{VARIES}`x` was 1 and is 2")
    other = replace(varies, why="it raises ValueError")

    assert shown(
        module("", Verdict.STALE),
        varies,
        replace(varies, path="a.b", why=f"{VARIES}`y` was 1 and is 2"),
        replace(varies, path="c"),
        replace(other, path="c.d"),
        replace(varies, path="e"),
        module("e.f", EQUAL),
    ) == [
        "<root> (Block): stale-on-replay",
        "  c (Block): undecided",
        "    c.d (Block): undecided",
        "  ... 3 modules undecided: other arguments in each step",
    ]


def test_the_number_of_calls_is_told_and_a_reason_unless_it_is_told_below_the_tree() -> None:
    twice = replace(module("a", Verdict.REFUSES, why="ran out\nof time"), calls=2)
    undecided = module("b", Verdict.UNDECIDED, why="ran out\nof time")

    assert shown(twice, undecided) == [
        "a (Block): refuses-capture, 2 calls in each step: ran out of time",
        "b (Block): undecided",
    ]


def test_of_two_verdicts_on_one_module_the_first_counts() -> None:
    assert shown(module("", Verdict.UNDECIDED), module("", Verdict.NOT_CALLED)) == [
        "<root> (Block): undecided"
    ]
