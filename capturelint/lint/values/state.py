"""What the pass knows of one captured function."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from capturelint.kind import UNKNOWN, Mark, Value
from capturelint.lint.values.kept import Kept, RawSpan
from capturelint.lint.values.packed import Packed
from capturelint.rule import Trait


@dataclass(slots=True)
class FunctionState:
    """What the pass knows of one captured function. `chain` is who first called it, and where.

    `is_start`: it runs each step around a captured region, or, where `loop_line` is not 0, the loop
    on that line of its file does.
    `names`, `traits` and `noted`, the values of expressions, are empty where no rule asks for them.
    `driver`: of a capture site, what is known of its code outside the captured region.
    """

    index: int
    is_root: bool = False
    is_start: bool = False
    loop_line: int = 0
    is_site: bool = False
    params: dict[str, Value] = field(default_factory=dict)
    returns: Value = UNKNOWN
    noted: dict[RawSpan, Value] | Packed = field(default_factory=dict)
    driver: dict[RawSpan, Value] = field(default_factory=dict)
    has_region: bool = False
    kept: Kept = field(default_factory=Kept)
    marks: dict[RawSpan, Mark] = field(default_factory=dict)
    names: Set[str] = frozenset()
    traits: Set[Trait] = frozenset()
    callers: set[int] = field(default_factory=set)
    chain: tuple[int, int] | None = None
    rounds: int = 0
    is_running: bool = False

    @property
    def values(self) -> dict[RawSpan, Value]:
        """The values of expressions by their spans; unpacked for each asking."""
        return self.noted.unpacked() if isinstance(self.noted, Packed) else self.noted

    @property
    def is_begun(self) -> bool:
        """True for a function where a way starts, so that none leads to it."""
        return self.is_root or self.is_start
