"""What in Python asked for an operation: the user's instruction, and torch's functions inside it."""

from __future__ import annotations

import ast
import dis
import linecache
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from types import CodeType, FrameType

from capturelint.debug.frames import is_of_torch, is_users

_SUBSCRIPT = "[]"  # what Python 3.14 calls it among the binary operations
_MOST_KEPT = 1024  # a loop asks at the same place again and again


@dataclass(frozen=True, slots=True)
class Called:
    """A call as written. `name`: the last of it, such as `one_hot`; `positional`: how many arguments."""

    name: str
    positional: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asked. `functions`: of torch, innermost first, as a file's path and a name.

    `line`: of the user's code, as written, or "". `call`: what is called there; None where it calls
    nothing, or Python does not tell. `reads_element`, `writes_element`: whether it is a subscript.
    """

    functions: tuple[tuple[str, str], ...]
    line: str = ""
    call: Called | None = None
    reads_element: bool = False
    writes_element: bool = False


def asking() -> Asking:
    """Return who asked for the operation that runs now."""
    functions: list[tuple[str, str]] = []
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - no other way to walk it
    while frame is not None and not is_users(frame.f_code):
        if is_of_torch(frame.f_code):
            functions.append((frame.f_code.co_filename.replace("\\", "/"), frame.f_code.co_name))
        frame = frame.f_back
    if frame is None:
        return Asking(functions=tuple(functions))
    name, argument = _instruction(frame.f_code, frame.f_lasti)
    return Asking(
        functions=tuple(functions),
        line=linecache.getline(frame.f_code.co_filename, frame.f_lineno),
        call=_called(frame.f_code, frame.f_lasti),
        reads_element=name == "BINARY_SUBSCR" or (name == "BINARY_OP" and argument == _SUBSCRIPT),
        writes_element=name == "STORE_SUBSCR",
    )


@lru_cache(maxsize=_MOST_KEPT)
def _instruction(code: CodeType, offset: int) -> tuple[str, str]:
    """Return the name and the argument, as text, of the instruction at an offset in bytes."""
    for one in dis.get_instructions(code):
        if one.offset == offset:
            return one.opname, one.argrepr
    return "", ""


@lru_cache(maxsize=_MOST_KEPT)
def _called(code: CodeType, offset: int) -> Called | None:
    text = _text(code, offset)
    try:
        node = ast.parse(f"({text})", mode="eval").body if text else None
    except SyntaxError:
        return None
    if not isinstance(node, ast.Call):
        return None
    function = node.func
    name = getattr(function, "attr", "") or getattr(function, "id", "")
    keywords = tuple(one.arg for one in node.keywords if one.arg is not None)
    return Called(name, len(node.args), keywords)


def _text(code: CodeType, offset: int) -> str:
    """Return the source of the expression that an instruction works on; "" before Python 3.11."""
    positions: Iterator[tuple[int | None, ...]] = getattr(code, "co_positions", lambda: iter(()))()
    found = next(islice(positions, offset // 2, None), ())
    if not found or None in found:
        return ""
    first, last, begin, end = (number or 0 for number in found)
    lines = [linecache.getline(code.co_filename, number) for number in range(first, last + 1)]
    coded = [line.encode() for line in lines]  # columns count bytes of UTF-8
    coded[-1] = coded[-1][:end]
    coded[0] = coded[0][begin:]
    return b"".join(coded).decode(errors="replace")
