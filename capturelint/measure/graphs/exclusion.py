"""Which modules of a callable run eagerly between captured pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from torch import nn

from capturelint.debug.running import names_of


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Which modules of a callable run eagerly. `excluded`, `around`: ids of them and of their callers."""

    paths: Mapping[int, str]
    excluded: frozenset[int]
    around: frozenset[int]

    def is_piece(self, module: nn.Module) -> bool:
        """Return whether a module may be captured whole."""
        return id(module) in self.paths and id(module) not in self.excluded | self.around


def exclusion_of(run: Callable[..., object], name: str, globs: Sequence[str]) -> Exclusion:
    """Return what `globs` over module paths leave out of `run`."""
    modules = names_of({name: run})
    excluded = {
        id(module)
        for path, module in modules.items()
        if any(fnmatchcase(path, glob) for glob in globs)
    }
    around = {
        id(module)
        for module in modules.values()
        if any(id(one) in excluded for one in module.modules())
    }
    paths = {id(module): path for path, module in reversed(modules.items())}
    return Exclusion(paths, frozenset(excluded), frozenset(around - excluded))
