"""What the user allows `bisect --fix` beyond what it does by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Allowed:
    """Rewrites that are made only where they are asked for.

    `partial`: of a function some lines may be rewritten though others stay. `all_experts`: each
    expert of a loop may run on all rows. `unsafe_fixes`: code need no longer raise where it did.
    """

    partial: bool = False
    all_experts: bool = False
    unsafe_fixes: bool = False

    @classmethod
    def of(cls, options: object) -> Allowed:
        """Return what the options of a command allow, each named as its field is."""
        return cls(**{one.name: bool(getattr(options, one.name)) for one in fields(cls)})

    @classmethod
    def said(cls, words: Sequence[str]) -> Allowed:
        """Return what `words` name, as a command line does."""
        return cls(**{one.name: _word(one.name) in words for one in fields(cls)})

    @property
    def words(self) -> tuple[str, ...]:
        """What is allowed, in the words of a command line."""
        return tuple(_word(one.name) for one in fields(self) if getattr(self, one.name))


NOTHING = Allowed()


def _word(name: str) -> str:
    return f"--{name.replace('_', '-')}"
