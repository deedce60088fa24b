"""What one analysis learns of values that change from call to call."""

from __future__ import annotations

from capturelint.kind import Source
from capturelint.lint.project import Project
from capturelint.lint.symbols import Function


class Changes:
    """Places that give another value in each call, and what becomes of it.

    `used`: device work of captured code uses it. `counters`: the class and attribute that a place
    counts up. `set_anew`: by attribute, the classes whose captured code sets it to something that is
    not its next value; -1 where it is set on something else than self. `made`: classes of which
    captured code makes objects, which so begin anew in each call.
    """

    def __init__(self, project: Project) -> None:
        self._project = project
        self.used: set[Source] = set()
        self.counters: dict[Source, tuple[int, str]] = {}
        self.set_anew: dict[str, set[int]] = {}
        self.made: set[int] = set()

    def note_counter(self, source: Source, function: Function, attribute: str) -> None:
        """Note which attribute a place counts up."""
        self.counters[source] = (self._project.owner_of(function), attribute)

    def note_set_anew(self, function: Function | None, attribute: str) -> None:
        """Note that captured code sets an attribute: of self in `function`, else of something else."""
        owner = -1 if function is None else self._project.owner_of(function)
        self.set_anew.setdefault(attribute, set()).add(owner)

    def is_set_anew(self, source: Source) -> bool:
        """Return whether a counter begins anew in each call, as captured code says."""
        counter = self.counters.get(source)
        if counter is None:
            return False
        owner, attribute = counter
        if any(self._is_related(one, owner) for one in self.made if owner >= 0):
            return True
        setters = self.set_anew.get(attribute, ())
        return any(one < 0 or owner < 0 or self._is_related(one, owner) for one in setters)

    def is_set_from_outside(self, attribute: str) -> bool:
        """Return whether captured code sets an attribute of this name on something else than self."""
        return -1 in self.set_anew.get(attribute, ())

    def _is_related(self, one: int, other: int) -> bool:
        order = self._project.order
        return one in order(other) or other in order(one)
