"""What a call passes."""

from __future__ import annotations

from typing import NamedTuple

from capturelint.kind import Value


class Arguments(NamedTuple):
    """What a call passes.

    `is_open`: `*args` or `**kwargs` may pass more. `rest` is what each of `*args` is, if known.
    """

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    is_open: bool = False
    rest: Value | None = None


NO_ARGUMENTS = Arguments(is_open=True)
