"""What the link speaks in: functions and classes of the project, and what a name stands for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from capturelint.kind import Ref
from capturelint.names import ClassFacts, FileFacts, FunctionFacts


@dataclass(frozen=True, slots=True)
class Function:
    """One function of the project. `index` is its place in `Project.functions`, `place` in its file."""

    index: int
    place: int
    file: FileFacts
    facts: FunctionFacts
    owner: int
    parent: int

    @property
    def full_name(self) -> str:
        """Return `package.module.Class.method`."""
        return f"{self.file.module}.{self.facts.qualname}"


@dataclass(frozen=True, slots=True)
class Class:
    """One class of the project. `index` is its place in `Project.classes`.

    `first` is the place of its file's first function in `Project.functions`.
    """

    index: int
    file: FileFacts
    facts: ClassFacts
    first: int

    def method(self, name: str) -> int | None:
        """Return the function of the project that is a method of its own, None if none is."""
        place = self.facts.methods.get(name)
        return None if place is None else self.first + place

    @property
    def full_name(self) -> str:
        """Return `package.module.Class`."""
        return f"{self.file.module}.{self.facts.qualname}"


@dataclass(frozen=True, slots=True)
class Symbol:
    """What a dotted name stands for: a project symbol, or the dotted name of something outside.

    `stand_in`: the function that takes the place of something outside where that is not installed.
    """

    ref: Ref | None = None
    name: str = ""
    stand_in: Ref | None = None
    constant_of: tuple[FileFacts, str] | None = None


# Classes of other packages that are modules, by their last name.
_MODULE_CLASSES = frozenset(
    "Module LightningModule PreTrainedModel ModelMixin MegatronModule TransformerEngineBaseModule".split()
)


def is_outside_module(name: str) -> bool:
    """Return whether the dotted name of a class from outside the project is an `nn.Module`."""
    if name.startswith("torch.nn.") and name.count(".") >= 2:
        return not name.startswith(("torch.nn.functional.", "torch.nn.init.", "torch.nn.utils."))
    return name.rpartition(".")[2] in _MODULE_CLASSES


def reached(start: int, following: Callable[[int], Sequence[int]]) -> tuple[int, ...]:
    """Return `start` and all that is reached from it, depth first, each once."""
    seen: dict[int, None] = {}
    stack = [start]
    while stack:
        current = stack.pop()
        if current not in seen:
            seen[current] = None
            stack.extend(following(current))
    return tuple(seen)
