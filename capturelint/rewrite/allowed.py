"""What the user allows `bisect --fix` beyond what it does by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Allowed:
    """Rewrites that are made only where they are asked for.

    `partial`: of a function some lines may be rewritten though others stay. `all_experts`: each
    expert of a loop may run on all rows. `unsafe_fixes`: code need no longer raise where it did.
    `exclude_as`: modules whose lines stay may run eagerly, as `torch`, `vllm` or `sglang` has it; "" for
    none.
    """

    partial: bool = False
    all_experts: bool = False
    unsafe_fixes: bool = False
    exclude_as: str = ""

    @classmethod
    def of(cls, options: object) -> Allowed:
        """Return what the options of a command allow, each named as its field is."""
        given = {one.name: getattr(options, one.name) for one in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value})

    @classmethod
    def said(cls, words: Sequence[str]) -> Allowed:
        """Return what `words` name, as a command line does."""
        said = dict(word.partition("=")[::2] for word in words if word.startswith("--"))
        given = {one.name: said.get(_word(one.name)) for one in fields(cls)}
        return cls(**{name: value or True for name, value in given.items() if value is not None})  # type: ignore[arg-type] # a text where one was said

    @property
    def words(self) -> tuple[str, ...]:
        """What is allowed, in the words of a command line."""
        given = {_word(one.name): getattr(self, one.name) for one in fields(self)}
        return tuple(
            word if value is True else f"{word}={value}" for word, value in given.items() if value
        )


NOTHING = Allowed()


def _word(name: str) -> str:
    return f"--{name.replace('_', '-')}"
