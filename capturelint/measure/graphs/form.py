"""How a callable is called: its arguments as a flat list of leaves, always in one order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from capturelint.debug.attempts.part import Call, dotted, named
from capturelint.debug.trees.branches import branches
from capturelint.debug.trees.trees import leaves, leaves_and_kinds
from capturelint.measure.graphs.mistakes import RunnerError

# Of each argument the paths of its leaves, and what they are nested in, by path.
_Nesting: TypeAlias = "tuple[tuple[str, ...], tuple[tuple[str, type], ...]]"


@dataclass(frozen=True, slots=True)
class Form:
    """The arguments of a callable. `positional`: how many have no name; `keywords`: of the others.

    `names`: those again. `arguments`: the names of all in order; `nestings`: how each is nested, empty
    where every one is a leaf. `leaves`: the names of the leaves of all in order.
    """

    callable: str
    positional: int
    keywords: tuple[str, ...]
    leaves: tuple[str, ...]
    names: frozenset[str]
    arguments: tuple[str, ...]
    nestings: tuple[_Nesting, ...]

    def values(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> list[object]:
        """Return the leaves of arguments. Raises `RunnerError` if they are given in another form."""
        if len(args) != self.positional or kwargs.keys() != self.names:
            raise RunnerError(
                f"{self.callable} was captured with {_told(self.positional, self.keywords)}, and is"
                f" called with {_told(len(args), kwargs)}; call it as the examples do"
            )
        arguments = [*args, *[kwargs[name] for name in self.keywords]]
        if not self.nestings:
            return arguments
        found: list[object] = []
        for name, value, nesting in zip(self.arguments, arguments, self.nestings, strict=True):
            own, kinds = leaves_and_kinds(value)
            given = tuple(leaf.path for leaf in own), tuple(kinds)
            if given != nesting:
                raise RunnerError(
                    f"`{name}` {_difference(nesting, given)}; call it as the examples do"
                )
            found += [leaf.value for leaf in own]
        return found


def form_of(name: str, run: Callable[..., object], call: Call) -> Form:
    """Return how the callable `name` is called in `call`."""
    taken = named(run, call)
    keywords = tuple(call.kwargs)
    order = (*(one for one in taken if one not in call.kwargs), *keywords)
    is_flat = all(branches(value, "") is None for value in taken.values())
    return Form(
        callable=name or "the callable",
        positional=len(call.args),
        keywords=keywords,
        leaves=tuple(dotted(one, leaf.path) for one in order for leaf in leaves(taken[one])),
        names=frozenset(keywords),
        arguments=order,
        nestings=() if is_flat else tuple(_nesting(taken[one]) for one in order),
    )


def _nesting(value: object) -> _Nesting:
    own, kinds = leaves_and_kinds(value)
    return tuple(leaf.path for leaf in own), tuple(kinds)


def _difference(captured: _Nesting, given: _Nesting) -> str:
    """Return in words how two nestings, which differ, do."""
    pairs = zip(captured[1] or _SINGLE, given[1] or _SINGLE, strict=False)
    for (path, was), (_, is_) in pairs:
        if was is not is_:
            where = f" at `{path}`" if path else ""
            return f"is a {_called(is_)}{where}, and was a {_called(was)} when it was captured"
    if sorted(captured[0]) == sorted(given[0]):
        return f"holds {_listed(given[0])}, and held {_listed(captured[0])} when it was captured"
    return (
        f"holds {_count(given[0])}, and held {_count(captured[0])} when it was captured:"
        f" {_listed(captured[0])}"
    )


_SINGLE = (("", object),)  # what is no container: a leaf


def _called(cls: type) -> str:
    return "single value" if cls is object else cls.__name__


def _count(paths: Sequence[str]) -> str:
    return f"{len(paths)} value{'' if len(paths) == 1 else 's'}"


_MOST = 4  # paths that are told


def _listed(paths: Sequence[str]) -> str:
    told = [path or "itself" for path in paths[:_MOST]]
    return ", ".join([*told, *(["..."] if len(paths) > _MOST else [])])


def _told(positional: int, keywords: Mapping[str, object] | tuple[str, ...]) -> str:
    words = [f"{positional} positional argument{'' if positional == 1 else 's'}"]
    words += [f"`{name}`" for name in keywords]
    return ", ".join(words)
