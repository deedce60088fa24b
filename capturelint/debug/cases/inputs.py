"""Where the inputs of each step come from: a function of seed, recorded inputs, or one example."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from capturelint.debug.backend import Backend, CannotTellError
from capturelint.debug.cases.arguments import Calls, calls_from, named
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError, raised
from capturelint.debug.cases.redraw import Redraw
from capturelint.debug.cases.signature import accepted, parameters
from capturelint.debug.settings import Settings
from capturelint.debug.trees.trees import copied
from capturelint.errors import CapturelintError


class Source(Protocol):
    """Makes the inputs of each step. `notes`: what a report must say about them."""

    notes: tuple[str, ...]

    def calls(self, step: int) -> Calls:
        """Return the inputs of `step`, not yet on the device."""

    def label(self, step: int) -> str:
        """Return what messages call them."""


def source_of(case: Case, settings: Settings, backend: Backend) -> Source:
    """Return where the inputs of `case` come from. Raises `CaseError` if they cannot be used."""
    if not callable(case.inputs) and not isinstance(case.inputs, list):
        return _Example(case, settings)
    if settings.redraw:
        kind = "a function" if callable(case.inputs) else "a list of recorded inputs"
        raise CaseError(
            f"--redraw {settings.redraw[0]}: inputs is {kind}, not one example; drop it"
        )
    if callable(case.inputs):
        return _Function(case, case.inputs, settings, backend)
    return _Recorded(case, case.inputs, settings)


class _Function:
    """A function of seed."""

    def __init__(
        self, case: Case, function: Callable[..., Any], settings: Settings, backend: Backend
    ) -> None:
        self._case = case
        self._function = function
        self._seed = settings.seed
        self._backend = backend
        self.notes: tuple[str, ...] = ()

    def calls(self, step: int) -> Calls:
        # Functions that use no generator of their own draw anew all the same.
        self._backend.seed(self._seed + step)
        try:
            value = _with_seed(self._function, self._seed + step)
        except (CapturelintError, CannotTellError):
            raise
        except (Exception, SystemExit) as error:
            raise raised(self.label(step), error) from error
        return calls_from(self._case, value, self.label(step))

    def label(self, step: int) -> str:
        return f"inputs({self._seed + step})"


class _Recorded:
    """A list of recorded inputs: each step has its own, and after the last comes the first."""

    def __init__(self, case: Case, recorded: Sequence[object], settings: Settings) -> None:
        self._case = case
        self._recorded = recorded
        steps = settings.replays + 1  # the first is that of the capture
        self.notes: tuple[str, ...] = ()
        if len(recorded) < steps:
            self.notes = (
                f"inputs holds {len(recorded)} for {steps} steps: they come again in turn",
            )

    def calls(self, step: int) -> Calls:
        value = self._recorded[step % len(self._recorded)]
        return copied(calls_from(self._case, value, self.label(step)))

    def label(self, step: int) -> str:
        return f"inputs[{step % len(self._recorded)}]"


class _Example:
    """One example: the first step is as it is, those after it are drawn like it."""

    def __init__(self, case: Case, settings: Settings) -> None:
        self._case = case
        self._seed = settings.seed
        self._calls = calls_from(case, case.inputs, self.label(0))
        self._redraw = Redraw(named(case, self._calls), settings.redraw)
        self.notes = self._redraw.notes

    def calls(self, step: int) -> Calls:
        fresh = copied(self._calls)
        if step:
            self._redraw.fill(named(self._case, fresh), self._seed + step)
        return fresh

    def label(self, _step: int) -> str:
        return "inputs"


def _with_seed(function: Callable[..., Any], seed: int) -> object:
    """Call `function` with a seed, however it names it; a function of nothing draws as seeded."""
    keywords = accepted(function, seed)
    others = [one for one in parameters(function).values() if one.name not in keywords]
    wanting = [one for one in others if one.default is one.empty or "seed" in one.name]
    if "seed" in keywords or not wanting:
        return function(**keywords)
    first = wanting[0]
    if first.kind in (first.POSITIONAL_ONLY, first.VAR_POSITIONAL):
        return function(seed, **keywords)
    name = "seed" if first.kind is first.VAR_KEYWORD else first.name
    return function(**{name: seed}, **keywords)
