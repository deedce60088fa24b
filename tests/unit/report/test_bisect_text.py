"""What bisect found, for people, whole."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from capturelint.finding import Effect
from capturelint.operations.messages import NO_BLAS
from capturelint.report import bisect_text
from capturelint.verdict import Certainty, Culprit, Evidence, Verdict
from tests.unit.report.reports import (
    NOT_PERMITTED,
    counting,
    failing,
    here,
    module,
    passing,
    reading,
)

ADVICE = {"CL101": "Keep it on the device.", "CL401": "Choose on the device."}


def culprit_lines(culprit: Culprit, *, backend: str = "simulated") -> list[str]:
    """Return the lines below the head of the block about one culprit."""
    verdict = {Effect.REFUSES: Verdict.REFUSES, Effect.STALE: Verdict.STALE}[culprit.effect]
    report = replace(
        passing(backend=backend),
        modules=(module(culprit.module, verdict),),
        culprits=(culprit,),
        verdict=verdict,
    )
    return bisect_text.render(report, advice=ADVICE).split("\n\n")[2].splitlines()


def test_a_pass_says_how_far_it_goes() -> None:
    assert bisect_text.render(passing()) == (
        "replays-equal (simulated): case.py:make: no trap seen, replays equal on 6 fresh inputs\n"
        "\n"
        "<root> (Model): replays-equal\n"
        "\n"
        "simulated: no GPU was used. A pass is no proof, and says nothing about custom kernels"
        " (CUDA, C++ or Triton).\n"
        "\n"
        "0 lines to blame, 1 module judged, 1 attempt, 12 forwards, 1.2 s, backend simulated,"
        " torch 2.13.0"
    )


def test_on_a_gpu_nothing_is_called_simulated() -> None:
    report = passing(backend="cuda")
    environment = {"torch": "2.13.0", "device": "NVIDIA H200"}
    shown = bisect_text.render(replace(report, environment=environment))

    assert shown.startswith("replays-equal: case.py:make: no trap seen")
    assert "simulated" not in shown
    assert shown.endswith("12 forwards, 1.2 s, backend cuda, torch 2.13.0, NVIDIA H200")


def test_without_the_whole_time_that_of_the_child_is_told() -> None:
    report = replace(passing(), timings={"seconds": 0.75, "judge seconds": 0.5})

    assert " judged, 0.8 s, " in bisect_text.summary(report)


def test_all_that_was_found_is_told_once() -> None:
    assert (
        bisect_text.render(failing(), advice=ADVICE)
        == f"""\
refuses-capture (simulated): case.py:make: capturing it raises an error

<root> (Model): refuses-capture
  layers.0 (Layer): refuses-capture
    layers.0.attention (Attention): refuses-capture at model.py:57
    ... 1 module replays equal
  layers.1: same as layers.0
  counter (Counter): stale-on-replay at model.py:9
  moe (MoE): undecided

1. model.py:57: refuses-capture
  n = x.max().item()
  module: layers.0.attention (Attention)
  also: layers.1.attention
  operation: aten::_local_scalar_dense
  CUDA would say: {NOT_PERMITTED}
  how sure: seen: captured alone, the module raises at this line
  rule: `capturelint rule CL101`
  next: Keep it on the device.

2. model.py:9: stale-on-replay
  return x * self.step
  module: counter (Counter)
  operation: aten::mul
  effect: the number 3 is part of the graph
  how sure: seen: the value here was another one in the next eager call
  differs: replay 2 is the first that differs, in output [0].logits: by 0.0312 in float32, where 1e-05 is allowed
  baked in: 3 -> 4 in the next call, from `self.step`; every replay uses the first
  set at: model.py:8  self.step += 1
  next: Keep what changes between calls in a tensor on the device, and update it in place.

could not be judged:
  moe (MoE): operator ours::moe cannot be simulated
  next: Mend what the reason names, or leave the module out (`--skip`) and capture it on a GPU by hand.

also seen in an eager run made as if capturing:
  model.py:70: refuses-capture in <root>: aten::is_nonzero (`capturelint rule CL401`)
    if x.any():

note: held: tokens (integers are not redrawn)
simulated: no GPU was used. A pass is no proof, and says nothing about custom kernels (CUDA, C++ or Triton).

2 lines to blame in 3 modules, 9 modules judged, 1 undecided, 31 attempts, 12 forwards, 4.2 s, backend simulated, torch 2.13.0"""
    )


def test_an_unnamed_value_used_on_another_line_says_where() -> None:
    culprit = counting("counter")
    (frozen,) = culprit.evidence.frozen
    elsewhere = replace(frozen, name="", place=here(20, "y = x * n"), cause=None)
    changes = ("self.step: 3 -> 4",)
    culprit = replace(culprit, evidence=Evidence(frozen=(elsewhere,), changes=changes))

    assert culprit_lines(culprit)[6:] == [
        "  baked in: 3 -> 4 in the next call; every replay uses the first",
        "  used at: model.py:20  y = x * n",
        "  next: Keep what changes between calls in a tensor on the device, and update it in place.",
    ]


def test_what_changed_is_told_when_no_baked_value_is_known() -> None:
    culprit = replace(counting("counter"), evidence=Evidence(changes=("self.seen: grew",)))

    assert "  changes: self.seen: grew" in culprit_lines(culprit)


def test_a_message_that_says_the_baked_values_is_not_told_twice() -> None:
    culprit = replace(counting("counter"), message="every replay uses it as it was: 3, then 4")

    assert "then" not in "\n".join(culprit_lines(culprit))


def test_random_numbers_of_the_host_have_a_cure_of_their_own() -> None:
    drawing = Evidence(changes=("random: host random numbers",))
    named_so = Evidence(changes=("self.random_table: rebound",))

    last = [culprit_lines(replace(counting("c"), evidence=one))[-1] for one in (drawing, named_so)]

    assert last[0].startswith("  next: Draw random numbers on the device")
    assert last[1].startswith("  next: Keep what changes between calls")


def test_two_lines_of_a_file_name_it_once_in_the_tree() -> None:
    culprits = (reading("a"), replace(reading("a"), place=here(60, "y")), counting("a"))
    report = replace(failing(), modules=(module("a", Verdict.REFUSES),), culprits=culprits)

    assert "\na (Block): refuses-capture at model.py:57, 60, 9\n" in bisect_text.render(report)


@pytest.mark.parametrize(
    ("certainty", "effect", "words"),
    [
        (Certainty.LIKELY, Effect.REFUSES, "likely: the capture itself did not stop at this line"),
        (Certainty.LIKELY, Effect.STALE, "likely: it fits what differs; no error marks the line"),
        (
            Certainty.AT_OR_BEFORE,
            Effect.REFUSES,
            "at this line or before it: an earlier error was caught by the code",
        ),
    ],
)
def test_how_sure_is_said_in_words(certainty: Certainty, effect: Effect, words: str) -> None:
    culprit = replace(reading("a"), certainty=certainty, effect=effect)

    assert f"  how sure: {words}" in culprit_lines(culprit)


def test_without_a_line_the_module_is_told_and_no_source() -> None:
    culprit = replace(
        reading("a"), place=None, certainty=Certainty.MODULE_ONLY, code="", operation=""
    )

    assert culprit_lines(culprit) == [
        "1. no line is known: refuses-capture",
        "  module: a (Attention)",
        f"  CUDA would say: {NOT_PERMITTED}",
        "  how sure: the module is to blame; no line is known",
        "  next: Do this before the captured code runs, or do it on the device.",
    ]


def test_on_a_gpu_what_was_raised_was_said_and_the_rest_would_be() -> None:
    raised, stopped = f"AcceleratorError: {NOT_PERMITTED}", "RuntimeError: called a synchronizing"
    said, guarded = (
        replace(reading("a"), evidence=Evidence(exception=exception))
        for exception in (raised, stopped)
    )

    assert f"  CUDA said: {NOT_PERMITTED}" in culprit_lines(said, backend="cuda")
    assert f"  CUDA would say: {NOT_PERMITTED}" in culprit_lines(guarded, backend="cuda")
    assert f"  CUDA would say: {NOT_PERMITTED}" in culprit_lines(said, backend="simulated")


MEND = "Mend what the reason names"


@pytest.mark.parametrize(
    ("path", "why", "words"),
    [
        ("a.b", "an operator is unknown", f"{MEND}, or leave the module out (`--skip`)"),
        ("a", "an operator is unknown", MEND),
        ("a.b", "pad rows: the batch has one row", MEND),
        (
            "a",
            "the process ended with exit code 3 while loading the case",
            "Call what makes the case",
        ),
    ],
)
@pytest.mark.parametrize("backend", ["cuda", "simulated"])
def test_what_to_do_fits_what_could_not_be_judged(
    path: str, why: str, words: str, backend: str
) -> None:
    around = () if path == "a" else (module("a", Verdict.EQUAL),)
    modules = (*around, module(path, Verdict.UNDECIDED, why=why))
    shown = bisect_text.render(replace(passing(backend=backend), modules=modules))
    (then,) = [line for line in shown.splitlines() if line.startswith("  next: ")]

    assert then.startswith(f"  next: {words}")
    assert ("by hand" in then) == (backend == "simulated" and why.startswith("an operator"))
    assert ("--skip" in then) == ("--skip" in words)


def test_a_code_that_no_loaded_rule_has_is_not_offered() -> None:
    assert "rule" not in "\n".join(culprit_lines(replace(reading("a"), code="CL999")))


@pytest.mark.parametrize(
    ("message", "step"),
    [
        ("x (cudaErrorStreamCaptureUnjoined)", "Before the captured code ends, wait for"),
        ("x (cudaErrorStreamCaptureIsolation)", "Before the side stream is given work"),
        ("x unless the CPU tensor is pinned.", "Make the tensor on the device once"),
        (
            "x for a CUDA generator not in capture mode.",
            "Register the generator before the capture",
        ),
        ("something else", "Do this before the captured code runs"),
    ],
)
def test_without_a_rule_the_message_decides_what_comes_next(message: str, step: str) -> None:
    last = culprit_lines(replace(reading("a"), code="", message=message))[-1]

    assert last.startswith(f"  next: {step}")


@pytest.mark.parametrize(
    ("end", "step"),
    [
        ("in torch.amp.GradScaler.step", "Make the optimizer with `fused=True`"),
        ("in torch.nn.utils.clip_grad_norm_", "Leave out `error_if_nonfinite=True`"),
        ("in a batch norm of torch", "Give the batch norm a number as `momentum`"),
        ("of a number", "Write a slice that holds the one element"),
        ("on a stream outside the capture", "Fork the side stream and join it"),
    ],
)
def test_who_asked_for_an_operation_decides_what_comes_next(end: str, step: str) -> None:
    last = culprit_lines(replace(reading("a"), operation=f"aten.item.default {end}"))[-1]

    assert last.startswith(f"  next: {step}")


@pytest.mark.parametrize(
    ("message", "step"), [(NO_BLAS, "No fault of this code"), ("x", "Call the module a few times")]
)
def test_a_handle_of_a_library_is_told_apart_from_the_code(message: str, step: str) -> None:
    cold = replace(reading("a"), message=message)
    modules = (module("a", Verdict.FAILS_COLD),)
    report = replace(passing(), modules=modules, culprits=(cold,), verdict=Verdict.FAILS_COLD)

    assert f"\n  next: {step}" in bisect_text.render(report)


def test_what_was_raised_is_told_when_it_is_not_the_message() -> None:
    evidence = Evidence(exception="ValueError: odd\nmore")

    assert "  raised: ValueError: odd" in culprit_lines(replace(reading("a"), evidence=evidence))
    assert "  raised: " not in "\n".join(culprit_lines(reading("a")))


def test_modules_that_only_fail_together_are_named() -> None:
    evidence = Evidence(together=("", "a.cache"))

    assert "  together: <root>, a.cache" in culprit_lines(replace(reading("a"), evidence=evidence))


def test_no_text_of_the_user_is_taken_for_markup_or_moves_the_cursor() -> None:
    source, cls = "x = y['[bold red]'] # \x1b[2J", "A[/dim]\r\x1b[31m"
    culprit = replace(reading("a"), place=here(1, source), cls=cls, message="\x1b]0;t\x07 [link]")
    report = replace(
        failing(), culprits=(culprit,), notes=("\x1b[31m[red]",), case="[b]case\n", hazards=()
    )

    for shown in (
        bisect_text.render(report),
        bisect_text.render(report, width=200, color=False),
    ):
        assert "\x1b" not in shown
        assert "\r" not in shown
        assert "x = y['[bold red]'] # \ufffd[2J" in shown
        assert "module: a (A[/dim] \ufffd[31m)" in shown
        assert "CUDA would say: \ufffd]0;t\ufffd [link]" in shown
        assert "note: \ufffd[31m[red]" in shown
        assert "(simulated): [b]case: " in shown


def test_a_terminal_shows_the_same_words_within_its_width() -> None:
    shown = bisect_text.render(failing(), advice=ADVICE, width=60, color=True)
    bare = re.sub(r"\x1b\[[0-9;]*m", "", shown)

    assert "\x1b[1;31mrefuses-capture\x1b[0m" in shown
    assert max(len(text) for text in bare.splitlines()) <= 60
    assert "├── layers.0 (Layer): refuses-capture\n" in bare
    plain = bisect_text.render(failing(), advice=ADVICE)
    assert re.sub(r"[\s├└│─]", "", bare) == re.sub(r"\s", "", plain)


@pytest.mark.parametrize("verdict", Verdict)
def test_every_verdict_has_a_sentence(verdict: Verdict) -> None:
    report = replace(passing(), verdict=verdict, timings={})

    head, _, rest = bisect_text.render(report).partition("\n")[0].partition(": case.py:make: ")
    assert head == f"{verdict.value} (simulated)"
    assert len(rest) > 10


def test_a_note_of_several_lines_keeps_them() -> None:
    shown = bisect_text.render(replace(passing(backend="cuda"), notes=("printed:\n  a\n  b", "")))

    assert shown.split("\n\n")[2] == "note: printed:\n  a\n  b\nnote:"


def test_of_many_baked_values_the_first_are_told() -> None:
    culprit = counting("counter")
    (frozen,) = culprit.evidence.frozen
    many = Evidence(frozen=tuple(replace(frozen, name=f"n{k}", cause=None) for k in range(7)))

    assert culprit_lines(replace(culprit, evidence=many))[6:10] == [
        "  baked in: 3 -> 4 in the next call, from `n0`; every replay uses the first",
        "  baked in: 3 -> 4 in the next call, from `n1`; every replay uses the first",
        "  baked in: 3 -> 4 in the next call, from `n2`; every replay uses the first",
        "  baked in: 4 more values",
    ]


def test_a_value_used_on_two_lines_is_told_once_with_what_changes() -> None:
    culprit = counting("counter")
    (frozen,) = culprit.evidence.frozen
    used = [replace(frozen, name="self.p", place=here(line, "x"), cause=None) for line in (20, 21)]
    evidence = Evidence(frozen=tuple(used), changes=("p: 0 -> 1 (number)",))

    assert culprit_lines(replace(culprit, evidence=evidence))[6:9] == [
        "  baked in: 3 -> 4 in the next call, from `self.p` (0 -> 1); every replay uses the first",
        "  used at: model.py:20  x",
        "  used at: model.py:21  x",
    ]


def test_two_messages_of_one_line_are_both_told() -> None:
    first = reading("layers.0")
    other = replace(first, module="layers.7", message="another thing altogether")
    text = bisect_text.render(replace(passing(), culprits=(first, other)), advice=ADVICE)

    assert "another thing altogether" in text
    assert "also: layers.7" not in text


def test_where_no_line_is_known_none_is_counted() -> None:
    unknown = replace(reading("a"), place=None)
    report = replace(passing(), verdict=Verdict.REFUSES, culprits=(unknown,))

    assert "\n1 module to blame, no line known, 1 module judged" in bisect_text.render(report)


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        (Evidence(replay=3), "replay 3 is the first that differs"),
        (
            Evidence(replay=3, output="result", difference=2.0),
            "replay 3 is the first that differs: by 2",
        ),
        (
            Evidence(replay=1, output="c[0]", difference=0.5, tolerance=0.0, dtype="int64"),
            "replay 1 is the first that differs, in output c[0]: by 0.5 in int64, where 0 is allowed",
        ),
    ],
)
def test_a_difference_is_told_as_far_as_it_was_measured(evidence: Evidence, words: str) -> None:
    lines = culprit_lines(replace(counting("counter"), evidence=evidence))

    assert f"  differs: {words}" in lines
