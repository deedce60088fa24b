"""Build the graphs of a case: warm up each size, then capture from the largest down into one pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor

from capturelint.debug.attempts.part import Call
from capturelint.debug.attempts.refused import refused
from capturelint.debug.backend import Backend, CannotTellError, SpentError
from capturelint.debug.cases.arguments import Calls
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import raised, summary
from capturelint.debug.cases.steps import calls_of
from capturelint.debug.instance import modes_of
from capturelint.debug.settings import Settings
from capturelint.debug.trees.copies import nodes
from capturelint.errors import CapturelintError, shown_path
from capturelint.measure.graphs.exclusion import exclusion_of
from capturelint.measure.graphs.form import Form, form_of
from capturelint.measure.graphs.layout import Slot, check_names, slots_of
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.graphs.outputs import Kept, Result, Seen, Shared, result_of, seen_in
from capturelint.measure.graphs.pieces import Pieces
from capturelint.measure.graphs.rung import Buffers, Graphed, Rung, buffers_of
from capturelint.measure.graphs.sized import case_at

# Around each phase, `warm-up` and `capture`, of a size and a callable.
Watch: TypeAlias = Callable[[int, str, str], AbstractContextManager[None]]


@dataclass(frozen=True, slots=True)
class Choices:
    """How graphs are built. `eager`: globs over modules that are not captured; `warmup`: calls.

    `is_view`: results lie in memory of their own, which the next replay overwrites.
    """

    settings: Settings
    warmup: int
    eager: tuple[str, ...]
    is_view: bool
    watch: Watch


@dataclass(slots=True)
class Captured:
    """One callable with its graphs by size."""

    name: str
    run: Callable[..., object]
    form: Form
    slots: tuple[Slot, ...]
    result: Result
    rungs: dict[int, Rung] = field(default_factory=dict)

    def close(self) -> None:
        """Give the memory of all graphs back."""
        for rung in self.rungs.values():
            rung.graph.close()
        self.rungs.clear()


@dataclass(frozen=True, slots=True)
class _Example:
    """What the callables receive in one step of one size. `shared`: the same in each step."""

    calls: Calls
    shared: tuple[object, ...]

    @property
    def held(self) -> set[int]:
        return {id(one) for one in nodes(list(self.shared)) if isinstance(one, Tensor)}


class Building:
    """Makes the graphs of `case` for `sizes`, which ascend. Inside the backend's session."""

    def __init__(
        self, case: Case, sizes: Sequence[int], backend: Backend, choices: Choices
    ) -> None:
        self._case = case
        self._sizes = sizes
        self._backend = backend
        self._choices = choices

    def captured(self) -> dict[str, Captured]:
        """Return each callable with its graphs. Raises `RunnerError` or `CaseError`."""
        # Of one size alone nothing tells which dimensions grow.
        only = self._sizes[0]
        probe = [] if len(self._sizes) > 1 else [only - 1 if only > 1 else 2]
        examples = {size: self._example(size) for size in (*self._sizes, *probe)}
        made: dict[str, Captured] = {}
        buffers: dict[tuple[str, int], Buffers] = {}
        forms = {name: self._form(name, run, examples) for name, run in self._case.named.items()}
        check_names(list(forms.values()), self._case.batch_dims)
        for name, run in self._case.named.items():
            form = forms[name]
            slots = self._slots(form, name, examples)
            seen = {}
            for size, example in examples.items():
                own = buffers_of(size, slots, example.calls[name], example.shared)
                with self._choices.watch(size, name, "warm-up"):
                    seen[size] = self._warmed_up(name, run, own)
                own.check_apart(form.values(*example.calls[name]))
                buffers[name, size] = own
            made[name] = Captured(name, run, form, slots, result_of(form.callable, seen))
        try:
            for size in reversed(self._sizes):
                for name, one in made.items():
                    with self._choices.watch(size, name, "capture"):
                        one.rungs[size] = self._rung(one, buffers[name, size])
        except BaseException:
            for one in made.values():
                one.close()
            raise
        return made

    def _example(self, size: int) -> _Example:
        steps = calls_of(case_at(self._case, size), self._choices.settings, self._backend)
        return _Example(steps(0), tuple(steps.shared.objects.values()))

    def _form(
        self, name: str, run: Callable[..., object], examples: Mapping[int, _Example]
    ) -> Form:
        return form_of(name, run, Call(*examples[self._sizes[-1]].calls[name]))

    def _slots(self, form: Form, name: str, examples: Mapping[int, _Example]) -> tuple[Slot, ...]:
        values = {size: form.values(*one.calls[name]) for size, one in examples.items()}
        held = {tensor for one in examples.values() for tensor in one.held}
        return slots_of(form, values, held, self._case.batch_dims)

    def modes(self) -> AbstractContextManager[None]:
        """Return a context in which the case runs: with gradients or not, as it says."""
        return modes_of(self._case, self._choices.settings)

    def _warmed_up(self, name: str, run: Callable[..., object], buffers: Buffers) -> Seen:
        """Call on static buffers until it is warm. Return what the last call returned."""
        label = f"{name or 'the case'}, called eagerly at size {buffers.size},"
        values = list(buffers.values)
        example = [v.detach().clone() if isinstance(v, Tensor) else v for v in values]

        def call() -> object:
            self._prepare()
            args, kwargs = buffers.arguments()
            with self.modes(), self._backend.warming_up():
                return run(*args, **kwargs)

        try:
            result = buffers.note_written(call)
            for _ in range(self._choices.warmup - 1):
                result = call()
        except CapturelintError:
            raise
        except CannotTellError as error:
            raise RunnerError(f"{label} cannot be run here: {error}") from error
        except SpentError as error:
            raise RunnerError(f"{label} lost the device: {error}; start a fresh process") from error
        except Exception as error:
            raise raised(label, error) from error
        self._refill(buffers, example)
        return seen_in(result)

    def _refill(self, buffers: Buffers, example: Iterable[object]) -> None:
        with torch.no_grad():
            for slot, to, value in zip(buffers.slots, buffers.values, example, strict=True):
                if isinstance(to, Tensor) and isinstance(value, Tensor) and not slot.is_held:
                    to.copy_(value)

    def _prepare(self) -> None:
        if self._case.prepare is None:
            return
        try:
            self._case.prepare(0)
        except Exception as error:
            raise raised("prepare(0)", error) from error

    def _rung(self, one: Captured, buffers: Buffers) -> Rung:
        self._prepare()
        try:
            graph = self._graph(one, buffers)
        except SpentError as error:
            problem = f"{error}; start a fresh process"
            raise RunnerError(_refused(one, buffers.size, problem)) from error
        except RunnerError:
            raise
        except Exception as error:
            found = refused(error, before=None)
            told = (found.message or found.why or summary(error)).splitlines()[0]
            at = (
                f" at {shown_path(found.places[0].path)}:{found.places[0].line}"
                if found.places
                else ""
            )
            raise RunnerError(
                f"{_refused(one, buffers.size, told + at)}; `capturelint bisect` names what to mend"
            ) from error
        return Rung(buffers, graph)

    def _graph(self, one: Captured, buffers: Buffers) -> Graphed:
        if self._choices.eager:
            exclusion = exclusion_of(one.run, one.name, self._choices.eager)
            if exclusion.excluded:
                pieces = Pieces(one.run, buffers.arguments, exclusion, self._backend, self.modes)
                return _KeptPieces(pieces, buffers.shared) if self._choices.is_view else pieces
        args, kwargs = buffers.arguments()
        if not self._choices.is_view:
            with self.modes():
                return self._backend.capture(lambda: one.run(*args, **kwargs))
        with self.modes():
            with self._backend.warming_up():
                kept = Kept(one.run(*args, **kwargs), buffers.shared)
            own, own_names = buffers.arguments()
            return self._backend.capture(lambda: kept.take(one.run(*own, **own_names)))


class _KeptPieces:
    """Pieces whose result is copied to memory of its own."""

    def __init__(self, pieces: Pieces, shared: Shared) -> None:
        self._pieces = pieces
        self._kept = Kept(pieces.output, shared)
        self.output: object = None

    def replay(self) -> None:
        self._pieces.replay()
        self.output = self._kept.take(self._pieces.output)

    def close(self) -> None:
        self._pieces.close()
        self.output = None


def _refused(one: Captured, size: int, problem: str) -> str:
    return f"{one.form.callable} cannot be captured at size {size}: {problem}"
