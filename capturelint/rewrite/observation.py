"""What a run showed of each expression of one function."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from capturelint.finding import Span


@dataclass(frozen=True, slots=True)
class Seen:
    """What an expression was, once. `kind`: `tensor`, `number`, `list`, `module`, `none` or `other`.

    Of a `list`, which is a short one of numbers or of such lists, `dtype` is the numbers' type. Of a tensor `dtype` such as `float32`, `shape` and `device`, such as `cuda`; of others the name
    of the type. `is_pure`: of a module, that calling it changes nothing; `is_rowwise`: that it also
    treats each row, along its last dimension, for itself. `has_slope`: of a tensor, that it requires gradients.
    """

    kind: str
    dtype: str = ""
    shape: tuple[int, ...] = ()
    device: str = ""
    name: str = ""
    is_pure: bool = False
    is_rowwise: bool = False
    has_slope: bool = False

    @property
    def numel(self) -> int:
        """Return the number of elements."""
        count = 1
        for size in self.shape:
            count *= size
        return count


@dataclass(slots=True)
class Observation:
    """What all runs showed, by place in the file.

    `outcomes`: what conditions came to, and the elements of masks. `endless`: the line of a loop that
    did not end, or 0. `counts`: how often an expression was evaluated; `watched`: all that were watched.
    """

    seen: dict[Span, set[Seen]] = field(default_factory=lambda: defaultdict(set))
    outcomes: dict[Span, set[bool]] = field(default_factory=lambda: defaultdict(set))
    endless: int = 0
    counts: Counter[Span] = field(default_factory=Counter)
    watched: set[Span] = field(default_factory=set)

    def of(self, span: Span) -> frozenset[Seen]:
        """Return all that an expression was; nothing if it never ran."""
        return frozenset(self.seen.get(span, ()))

    def never_ran(self, line: int) -> bool:
        """Return whether expressions on a line were watched, and none was evaluated."""
        on_it = [one for one in self.watched if one.line <= line <= one.end_line]
        return bool(on_it) and not any(self.counts[one] for one in on_it)
