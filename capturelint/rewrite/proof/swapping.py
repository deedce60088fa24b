"""Run other code in place of a function that the user's program already holds."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FunctionType

_NESTED = "<locals>"


class CannotSwapError(Exception):
    """The function cannot be run with other code. The text says why."""


def functions_of(path: str, qualname: str) -> list[FunctionType]:
    """Return the functions in this process that have the code of one in a file."""
    real, name = os.path.realpath(path), qualname.rpartition(".")[2]
    gc.unfreeze()  # what a program has frozen is not listed
    return [
        one
        for one in gc.get_objects()
        if type(one) is FunctionType
        and one.__qualname__ == qualname
        and one.__code__.co_name == name
        and os.path.realpath(one.__code__.co_filename) == real
    ]


def code_in(module: CodeType, qualname: str) -> CodeType:
    """Return the code of a function in that of its file. Raises `CannotSwapError`."""
    if _NESTED in qualname:
        raise CannotSwapError("it is defined inside of another function")
    code = module
    for name in qualname.split("."):
        found = [c for c in code.co_consts if isinstance(c, CodeType) and c.co_name == name]
        if len(found) != 1:
            raise CannotSwapError("it is defined more than once, or under another name")
        code = found[0]
    return code


@contextmanager
def swapped(
    functions: list[FunctionType], code: CodeType, names: Mapping[str, object]
) -> Iterator[None]:
    """Let functions run other code inside, which finds `names` among their global ones."""
    before = [one.__code__ for one in functions]
    if not functions:
        raise CannotSwapError("it is not found in the running program")
    if any(old.co_freevars != code.co_freevars for old in before):
        raise CannotSwapError("it uses names of what is around it")
    tables = {id(one.__globals__): one.__globals__ for one in functions}
    added = [(table, name) for table in tables.values() for name in names if name not in table]
    for table, name in added:
        table[name] = names[name]
    try:
        for one in functions:
            one.__code__ = code
        yield
    finally:
        for one, old in zip(functions, before, strict=True):
            one.__code__ = old
        for table, name in added:
            table.pop(name, None)
