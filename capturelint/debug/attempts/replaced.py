"""Stand-ins for the modules that one calls, so that its own lines can be judged apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from torch import nn

from capturelint.debug.attempts.calls import Run, answered_by
from capturelint.debug.attempts.part import Part
from capturelint.debug.trees.static_inputs import ArgumentVariesError, check_alike, copy_into
from capturelint.debug.trees.trees import copied, with_same_tensors

Heard: TypeAlias = Callable[[str, tuple[Any, ...], dict[str, Any]], object]


class StandInError(Exception):
    """Stand-ins cannot take the place of a module. The message says why."""


class StandIns:
    """Return, in the place of called modules, what those returned when they were recorded.

    `unfit`: why they could not, or "". `heard`: is told the path and the arguments of each call.
    Raises StandInError if what they return in different steps does not fit one graph.
    """

    def __init__(self, parts: Collection[Part], *, heard: Heard | None = None) -> None:
        self._heard = heard
        self._parts = tuple(parts)
        self._static = {
            part.path: [copied(one, shared=_shared(part)) for one in part.results[0]]
            for part in parts
        }
        self._fresh: dict[str, tuple[object, ...]] = {}
        self._is_static = False
        self._calls: dict[str, int] = {}
        self.unfit = ""
        for part in parts:
            _check(part)

    @property
    def steps(self) -> int | None:
        """Return how many steps they have results for; None for any number."""
        return min((len(part.results) for part in self._parts), default=None)

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Let the stand-ins answer for the modules inside."""
        answers = {
            part.run: self._answer(part) for part in self._parts if isinstance(part.run, nn.Module)
        }
        with answered_by(answers):
            yield

    def begin(self, step: int, *, static: bool) -> None:
        """Return the results of `step` from now on, from the first call.

        `static`: in tensors that stay the same, for a graph; else in fresh ones.
        """
        self._is_static = static
        self._calls = dict.fromkeys(self._static, 0)
        self._fresh = {}
        for part in self._parts:
            # Not when the module is called: what lies on the host is not to be copied in a capture.
            results = part.results[step]
            if static:
                copy_into(self._static[part.path], list(results))
            else:
                self._fresh[part.path] = results

    def _answer(self, part: Part) -> Run:
        def answer(*args: Any, **kwargs: Any) -> object:
            if self._heard is not None:
                self._heard(part.path, args, kwargs)
            number = self._calls[part.path]
            results = self._static[part.path] if self._is_static else self._fresh[part.path]
            if number >= len(results):
                # The model may handle the exception.
                self.unfit = f"`{part.path}` is called more often than when it was recorded"
                raise StandInError(self.unfit)
            self._calls[part.path] += 1
            if self._is_static:
                return with_same_tensors(results[number], shared=_shared(part))
            return copied(results[number], shared=_shared(part))

        return answer


def _shared(part: Part) -> tuple[object, ...]:
    return tuple(part.shared.values())


def _check(part: Part) -> None:
    first = part.results[0]
    for step, results in enumerate(part.results[1:], start=2):
        if len(results) != len(first):
            raise StandInError(f"`{part.path}` is not called equally often in every step")
        try:
            check_alike(list(first), list(results))
        except ArgumentVariesError as error:
            raise StandInError(
                f"what `{part.path}` returns varies: {error} in step {step}"
            ) from error
