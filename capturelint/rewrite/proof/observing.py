"""Watch a function as it is by now on many inputs, for what its rewriting needs to know."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import TypeAlias

import libcst as cst
import torch

from capturelint.finding import Span
from capturelint.rewrite.allowed import Allowed
from capturelint.rewrite.observation import Observation
from capturelint.rewrite.observed import Observed, function_named
from capturelint.rewrite.origins import Origins
from capturelint.rewrite.proof.kept import KeptError
from capturelint.rewrite.proof.mutants import AS_RECORDED, constants_in, mutants
from capturelint.rewrite.proof.recorder import NAME, Recorder
from capturelint.rewrite.proof.swapping import code_in
from capturelint.rewrite.proof.trial import Bench, Came, Held, Input, Inputs
from capturelint.source import SourceFile

_MOST_HELD = 8  # numbers that buffers are filled with
_FACTORS = (-1.0, 0.0, 10.0, -10.0)
_STEPS = 2  # whose inputs are changed, each in some forty ways


def inputs_of(text: str, path: str, qualname: str, bench: Bench) -> Iterator[Input]:
    """Yield inputs on which a function of a file may take all its ways."""
    constants = constants_in(function_named(text, path, qualname).node)
    for seed, calls in enumerate(bench.part.steps[:_STEPS]):
        yield from (Input(*one) for one in mutants(calls, constants, seed))
    if bench.has_buffers:
        calls = bench.part.steps[0]
        for number in constants[:_MOST_HELD]:
            copies = tuple(call.copied() for call in calls)
            yield Input(f"and buffers of {number:g}", copies, Held(buffers=number))
    # What a layer gives may be anything, with other weights than those of the case.
    for factor in _FACTORS if bench.has_weights else ():
        copies = tuple(call.copied() for call in bench.part.steps[0])
        yield Input(f"and weights times {factor:g}", copies, Held(weights=factor))


Outcomes: TypeAlias = dict[Span, set[bool]]


class Watch:
    """One function of a file, to run under watch with `code` and `names`; then `seen` tells what it showed."""

    def __init__(self, text: str, path: str, qualname: str, origins: Origins) -> None:
        self._origins = origins
        self._named = function_named(text, path, qualname)
        self._source = SourceFile.of(text)
        self._observation = Observation()
        self._outcomes: list[Outcomes] = []  # of each input
        recorder = Recorder(self._observation)
        recorder.instrumented(self._named.tree, self._named.node, self._source)
        self.code: CodeType = code_in(compile(self._named.tree, path, "exec"), qualname)
        self.names: dict[str, object] = {NAME: recorder}

    def came(self, inputs: Inputs, bench: Bench, around: Sequence[Bench]) -> list[Came]:
        """Run the code on all inputs, and the callables `around` on theirs; return what the first came to.

        Raises `KeptError` for a loop without end, or if the code raises for all inputs.
        """
        came = [self._one(one, bench) for one in inputs]
        for other in around:
            for calls in other.part.steps[:_STEPS]:
                other.came(calls)
        if line := self._observation.endless:
            raise KeptError(
                f"line {self._origins[line - 1]}: its loop has no bound; choose a maximum of turns"
            )
        if all(one.seen is None for one in came):
            raise KeptError(f"alone its module raises {came[0].raised}: {came[0].said}")
        return came

    def _one(self, given: Input, bench: Bench) -> Came:
        """Run the code on one input, and keep which ways it led."""
        before = self._observation.outcomes
        self._observation.outcomes = defaultdict(set)
        came = bench.came(given.calls, given.held)
        self._outcomes.append(self._observation.outcomes)
        self._observation.outcomes = _together([before, self._outcomes[-1]])
        return came

    def marked(self, inputs: Inputs) -> Inputs:
        """Return the inputs that `came` was given, marked by where they led."""
        pairs = list(zip(inputs, self._outcomes, strict=True))
        known = _together([led for one, led in pairs if one.has_slopes])
        met: Outcomes = defaultdict(set)
        found = []
        for one, led in pairs:
            is_first = one.name == AS_RECORDED or any(led[span] - met[span] for span in led)
            is_apart = any(led[span] - known[span] for span in led)
            found.append(one._replace(leads_apart=is_apart, leads_first=is_first))
            met = _together([met, led])
        return found

    def seen(
        self,
        functions: Sequence[FunctionType],
        bench: Bench,
        allowed: Allowed,
        blamed: frozenset[int],
    ) -> Observed:
        """Return what the runs showed. `functions`: those that ran; `blamed`: lines to blame in the old file."""
        is_named = all(one.__globals__.get("torch") is torch for one in functions)
        lines = enumerate(self._origins, start=1)
        mode = bench.instance.case.mode
        return Observed(
            *(self._named, self._source, self._observation),
            wants_gradients=mode != "inference",
            torch="torch" if is_named else "",
            allowed=allowed,
            blamed=frozenset(at for at, old in lines if old in blamed) if blamed else None,
            trains=mode == "train",
        )


def _together(each: Sequence[Outcomes]) -> Outcomes:
    found: Outcomes = defaultdict(set)
    for outcomes in each:
        for span, led in outcomes.items():
            found[span] |= led
    return found


def check_both_ways(
    tests: Sequence[cst.BaseExpression], observed: Observed, origins: Origins
) -> None:
    """Raise `KeptError` unless inputs led to both outcomes of each condition of a place."""
    for test in tests:
        reached = observed.observation.outcomes.get(observed.span(test), set())
        if reached != {True, False}:
            came = " and ".join(str(one) for one in sorted(reached)) or "nothing"
            raise KeptError(
                f"line {origins[observed.span(test).line - 1]}: not proven, as inputs led to {came} alone"
            )
