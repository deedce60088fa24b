"""Rewrite one function, a place at a time: observe it, try a form, keep what nothing tells apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from types import CodeType, FunctionType

import libcst as cst
import torch

from capturelint.finding import Fix
from capturelint.rewrite.allowed import NOTHING, Allowed
from capturelint.rewrite.buffers import Buffer
from capturelint.rewrite.compose import applied
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.imports import Torch
from capturelint.rewrite.merging import ROWS, WHERE
from capturelint.rewrite.observation import Observation
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.origins import Origins, Piece, origins_after, piece_at
from capturelint.rewrite.patterns.order import Pattern, sites
from capturelint.rewrite.proof.choosing import checked_rows, checked_where
from capturelint.rewrite.proof.comparison import Comparison
from capturelint.rewrite.proof.cost import computed
from capturelint.rewrite.proof.held import CannotHoldError, held_by
from capturelint.rewrite.proof.kept import KeptError
from capturelint.rewrite.proof.mutants import AS_RECORDED
from capturelint.rewrite.proof.observing import Watch, check_both_ways, inputs_of
from capturelint.rewrite.proof.reference import Reference
from capturelint.rewrite.proof.swapping import CannotSwapError, code_in, functions_of, swapped
from capturelint.rewrite.proof.trial import Bench, Came, Inputs
from capturelint.rewrite.unknown import NO_PATTERN

_MOST_PLACES = 40


@dataclass(slots=True)
class Rewriting:
    """One function of a file while it is rewritten. `text` is of the whole file, as it is by now.

    `around`: the callables of the case, which may call the function elsewhere too, on other things.
    `origins`: where the lines of `text` stood in the old file, whose lines all numbers are of that are told.
    `blamed`: the lines to blame, where these are known. `names`: global names that the new
    code needs. `comparison`: what the proof showed. `refused`:
    places that stay where a part may be rewritten, with why. `notes`: what forms say of
    themselves; `buffers`: what new code reads; `is_unsafe`: a form no longer raises where the old code did.
    `computes`: what the new code computes more than the old, such as both arms. `shown`: what its old code showed,
    in a text whose `origins` were `began`.
    """

    path: str
    qualname: str
    text: str
    bench: Bench
    around: Sequence[Bench]
    origins: Origins
    functions: list[FunctionType] = field(default_factory=list)
    names: dict[str, object] = field(default_factory=dict)
    allowed: Allowed = NOTHING
    blamed: frozenset[int] = frozenset()
    notes: list[str] = field(default_factory=list)
    is_unsafe: bool = False
    buffers: list[Buffer] = field(default_factory=list)
    refused: dict[Piece, str] = field(default_factory=dict)
    before: str = ""
    computes: dict[str, None] = field(default_factory=dict)
    shown: Observation | None = None
    began: Origins = ()
    comparison: Comparison = field(init=False)

    def __post_init__(self) -> None:
        self.comparison = Comparison(self.bench, self._old)

    def run(self) -> int:
        """Rewrite all that patterns know, and return the number of places.

        Raises `KeptError` for the first place that stays, or, if a part may be rewritten, if all do.
        """
        self.before, self.began = self.text, self.origins
        self.functions = functions_of(self.path, self.qualname)
        inputs = list(inputs_of(self.text, self.path, self.qualname, self.bench))
        self.comparison.run_old_with_one_row()
        reference: Reference | None = None
        for number in range(_MOST_PLACES):
            if reference is not None and not self._shows_more(inputs):
                return number
            observed, came, marked = self._observed(inputs)
            if reference is None:
                inputs, self.shown = marked, observed.observation
                reference = Reference(inputs, came)
                self.comparison.run_old_laid_otherwise(inputs)
                self.comparison.run_old_otherwise(inputs)
            if self._step(observed, reference):
                if self.is_unsafe:
                    # What no longer raises may end the CUDA context instead.
                    reference = reference.of_what_ran()
                    inputs = reference.inputs
                continue
            if self.refused and not number:
                raise KeptError(next(iter(self.refused.values())))
            return number
        raise KeptError("it has too many places to rewrite")

    def _shows_more(self, inputs: Inputs) -> bool:
        """Return whether the recorded inputs lead to a place that is not rewritten yet.

        A place that they do not lead to stands under another one that they do lead to.
        """
        recorded = [one for one in inputs if one.name == AS_RECORDED]
        observed, *_ = self._observed(recorded)
        return not all(self._piece(node, observed) in self.refused for node in sites(observed))

    def _piece(self, node: cst.CSTNode, observed: Observed) -> Piece:
        return piece_at(observed.span(node), observed.text(node), self.origins)

    def _step(self, observed: Observed, reference: Reference) -> bool:
        """Rewrite the next place, and return whether there was one."""
        places = sites(observed)
        if not places:
            return False
        known = observed.torch
        if known is None:
            raise KeptError("what `torch` is called in its file cannot be told")
        for node, patterns in places.items():
            piece = self._piece(node, observed)
            if piece in self.refused:
                continue
            try:
                self._rewrite(node, patterns, observed, known, reference)
            except KeptError as error:
                if not self.allowed.partial:
                    raise
                self.refused[piece] = str(error)
            else:
                return True
        return False

    def _rewrite(
        self,
        node: cst.CSTNode,
        patterns: Sequence[Pattern],
        observed: Observed,
        known: Torch,
        reference: Reference,
    ) -> None:
        """Write what the first pattern offers that is proven. Raises `KeptError` if none is."""
        reasons: list[str] = []
        for pattern in patterns:
            forms = pattern.match(node, observed, known.name)
            if isinstance(forms, Refusal):
                if forms.code == "UNSEEN":
                    # What never ran stands where no input led, which says more.
                    check_both_ways(pattern.tests(node, observed), observed, self.origins)
                reasons.append(f"line {self.origins[forms.line - 1]}: {forms}")
                continue
            if not forms:
                continue
            try:
                check_both_ways(pattern.tests(node, observed), observed, self.origins)
                self.text = self._first_proven(forms, known, reference)
            except KeptError as error:
                reasons.append(str(error))
            else:
                self.computes.update(dict.fromkeys(filter(None, [computed(pattern)])))
                return
        raise KeptError(reasons[0] if reasons else NO_PATTERN)

    def _observed(self, inputs: Inputs) -> tuple[Observed, list[Came], Inputs]:
        """Run the function as it is by now on all inputs, and return what it showed, and came to.

        Inputs come back marked, as `Watch.marked` has it.
        """
        watch = Watch(self.text, self.path, self.qualname, self.origins)
        with self._running(watch.code, {**watch.names, **self.names}):
            came = watch.came(inputs, self.bench, self.around)
        seen = watch.seen(self.functions, self.bench, self.allowed, self.blamed)
        return seen, came, watch.marked(inputs)

    def _first_proven(self, forms: tuple[Form, ...], known: Torch, reference: Reference) -> str:
        """Return the file with the first form that nothing tells apart. Raises `KeptError`."""
        reference.add_slopes(self.bench)
        reference.add_changes(self.bench)
        reasons: list[str] = []
        for form in forms:
            fix = Fix(form.grade.value, (*form.edits, *known.edits))
            text = applied(self.text, [fix])
            try:
                code = code_in(compile(text, self.path, "exec"), self.qualname)
            except SyntaxError as error:
                reasons.append(f"what was written in its place does not parse: {error.msg}")
                continue
            try:
                held = self._held(form)
            except CannotHoldError as error:
                reasons.append(str(error))
                continue
            names = {WHERE: checked_where, ROWS: checked_rows, known.name: torch, **held}
            is_unsafe = form.grade is Grade.UNSAFE
            against = reference.of_what_ran() if is_unsafe else reference
            with self._running(code, {**self.names, **names}):
                reason = self.comparison.forward(against) or self.comparison.backward(against)
                if not reason and not (is_unsafe or self.is_unsafe):
                    reason = self.comparison.with_others()
            if not reason:
                self.origins = origins_after(self.origins, self.text, [fix])
                self.is_unsafe = self.is_unsafe or is_unsafe
                self.names |= {known.name: torch, **self._held(form)}
                self.buffers += form.buffers
                self.notes += form.notes
                where = f"{known.name}.where"
                return text.replace(WHERE, where).replace(ROWS, where)
            reasons.append(reason)
        raise KeptError(reasons[0])

    def _held(self, form: Form) -> dict[str, object]:
        return held_by(form.buffers, self.functions, self.bench.backend.place)

    def classes(self, buffers: Sequence[Buffer]) -> dict[str, type]:
        """Return the classes that get some buffers, by the names of these."""
        return {one.name: self.functions[0].__globals__[one.cls] for one in buffers}

    def finished(self, text: str) -> Iterator[tuple[list[FunctionType], CodeType]]:
        """Yield the functions that a file with its buffers changes, with their code."""
        whole = compile(text, self.path, "exec")
        yield self.functions, code_in(whole, self.qualname)
        for name in dict.fromkeys(f"{one.cls}.__init__" for one in self.buffers):
            yield functions_of(self.path, name), code_in(whole, name)

    def code(self) -> CodeType:
        """Return the function's code as it is by now."""
        return code_in(compile(self.text, self.path, "exec"), self.qualname)

    def swapped(self) -> AbstractContextManager[None]:
        """Return a context in which the function runs the new code."""
        return swapped(self.functions, self.code(), self.names)

    def _old(self) -> AbstractContextManager[None]:
        """Return a context in which the function runs the code that it had at first."""
        code = code_in(compile(self.before, self.path, "exec"), self.qualname)
        return swapped(self.functions, code, {})

    @contextmanager
    def _running(self, code: CodeType, names: Mapping[str, object]) -> Iterator[None]:
        try:
            with swapped(self.functions, code, names):
                yield
        except CannotSwapError as error:
            raise KeptError(str(error)) from error
