"""One module or function under test: the calls it receives in each step, and what they returned."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from inspect import Parameter
from typing import Any

from capturelint.debug.attempts.modes import Modes
from capturelint.debug.cases.signature import parameters
from capturelint.debug.trees.static_inputs import ArgumentVariesError, check_alike
from capturelint.debug.trees.trees import copied
from capturelint.verdict import VARIES


@dataclass(frozen=True, slots=True)
class Call:
    """What one call receives. `modes`: None for those that are set when it is made.

    `shared`: objects in it that every step receives, and that are not copied.
    """

    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    modes: Modes | None = None
    shared: tuple[object, ...] = ()

    def copied(self) -> Call:
        """Return a call on copies of what it receives."""
        args, kwargs = copied((self.args, dict(self.kwargs)), shared=self.shared)
        return replace(self, args=args, kwargs=kwargs)

    def of(self, run: Callable[..., object]) -> object:
        """Return what `run` returns to this call."""
        with nullcontext() if self.modes is None else self.modes.set():
            return run(*self.args, **self.kwargs)


@dataclass(frozen=True, slots=True)
class Part:
    """A module or function that is judged alone.

    `run`: the module itself, or the function. `steps`: for each step its calls in order; a module
    called several times is judged by all of them in one capture. `results`: what those returned.
    `aliases`: other names of the same module. `varies`: how the calls of different steps differ, so
    that no graph serves them, or ""; None where nobody has looked. `numbers`: of the parent's steps that `steps` are, empty for all;
    `results` are of all. `shared`: objects that all steps receive, by their names.

    Looking at a step may copy it to the device: do it once for each use.
    """

    path: str
    cls: str
    run: Callable[..., object]
    steps: Sequence[tuple[Call, ...]]
    results: Sequence[tuple[object, ...]] = ()
    aliases: tuple[str, ...] = ()
    varies: str | None = None
    numbers: tuple[int, ...] = ()
    shared: Mapping[str, object] = field(default_factory=dict)

    def number(self, step: int) -> int:
        """Return which of the parent's steps `step` is."""
        return self.numbers[step] if self.numbers else step


def alike_steps(
    steps: Sequence[Sequence[Call]], run: Callable[..., object]
) -> tuple[tuple[int, ...], str]:
    """Return the largest set of steps that one graph could serve, and how another one differs.

    Steps without a call, as of a layer that is dropped at random, are in no set.
    """
    groups: list[list[int]] = []
    for number, calls in enumerate(steps):
        fitting = (group for group in groups if not variation((steps[group[0]], calls), run))
        group = next(fitting, None) if calls else []
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    most = max(groups, key=len, default=[])
    return tuple(most), variation(steps, run)


def variation(steps: Sequence[Sequence[Call]], run: Callable[..., object]) -> str:
    """Return how a step differs from the first in more than the contents of tensors, or "".

    A graph keeps the modes in which it was captured.
    """
    expected = steps[0]
    for number, calls in enumerate(steps[1:], start=2):
        if len(calls) != len(expected):
            was, is_ = _times(len(expected)), _times(len(calls))
            return f"it is called {was} in step 1 and {is_} in step {number}"
        for first, call in zip(expected, calls, strict=True):
            if first.modes != call.modes:
                return f"step {number} calls it with other gradients, inference mode or autocast than step 1"
            found = _difference(named(run, first), named(run, call), number)
            if found:
                return f"{VARIES}{found}"
    return ""


def named(run: Callable[..., object], call: Call) -> dict[str, object]:
    """Return the arguments of a call by name; `args[0]` is one that has none."""
    # A module takes what its forward takes.
    taken = parameters(getattr(run, "forward", run)).values()
    names = [one.name for one in taken if one.kind in _BY_POSITION]
    names += [f"args[{index}]" for index in range(len(names), len(call.args))]
    return {**dict(zip(names, call.args, strict=False)), **call.kwargs}


_BY_POSITION = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def dotted(name: str, path: str) -> str:
    """Return the path of what is found at `path` in the argument or result `name`."""
    return f"{name}{'' if path[:1] in ('', '[') else '.'}{path}"


def _difference(first: Mapping[str, object], other: Mapping[str, object], step: int) -> str:
    for name in first:
        if name not in other:
            return f"`{name}` is not given in step {step}"
    for name in other:
        if name not in first:
            return f"`{name}` is given in step {step}"
    for name, value in first.items():
        try:
            check_alike(value, other[name])
        except ArgumentVariesError as error:
            words = (
                f"`{dotted(name, error.path)}` was {error.was} and is {error.is_} in step {step}"
            )
            return f"{words}{_NUMBER if error.is_number else ''}"
    return ""


_NUMBER = "; a graph would keep the first number: pass a tensor on the device instead"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"
