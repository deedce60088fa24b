"""How a callable is called: its arguments as a flat list of leaves, always in one order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from capturelint.debug.attempts.part import Call, dotted, named
from capturelint.debug.trees.branches import branches
from capturelint.debug.trees.trees import leaves
from capturelint.measure.graphs.mistakes import RunnerError


@dataclass(frozen=True, slots=True)
class Form:
    """The arguments of a callable. `positional`: how many have no name; `keywords`: of the others.

    `names`: those again. `leaves`: the names of the leaves of all in order. `is_flat`: each argument
    is one leaf.
    """

    callable: str
    positional: int
    keywords: tuple[str, ...]
    leaves: tuple[str, ...]
    is_flat: bool
    names: frozenset[str]

    def values(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[object]:
        """Return the leaves of arguments. Raises `RunnerError` if they are given in another form."""
        if len(args) != self.positional or kwargs.keys() != self.names:
            raise RunnerError(
                f"{self.callable} was captured with {_told(self.positional, self.keywords)}, and is"
                f" called with {_told(len(args), kwargs)}; call it as the examples do"
            )
        arguments = [*args, *[kwargs[name] for name in self.keywords]]
        if self.is_flat:
            return arguments
        found = [leaf.value for value in arguments for leaf in leaves(value)]
        if len(found) != len(self.leaves):
            raise RunnerError(
                f"{self.callable} was captured with {len(self.leaves)} values in its arguments, and"
                f" is called with {len(found)}; call it as the examples do"
            )
        return found


def form_of(name: str, run: Callable[..., object], call: Call) -> Form:
    """Return how the callable `name` is called in `call`."""
    taken = named(run, call)
    keywords = tuple(call.kwargs)
    order = [one for one in taken if one not in call.kwargs] + list(keywords)
    return Form(
        callable=name or "the callable",
        positional=len(call.args),
        keywords=keywords,
        leaves=tuple(dotted(one, leaf.path) for one in order for leaf in leaves(taken[one])),
        is_flat=all(branches(value, "") is None for value in taken.values()),
        names=frozenset(keywords),
    )


def _told(positional: int, keywords: Mapping[str, object] | tuple[str, ...]) -> str:
    words = [f"{positional} positional argument{'' if positional == 1 else 's'}"]
    words += [f"`{name}`" for name in keywords]
    return ", ".join(words)
