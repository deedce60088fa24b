"""Written numbers that a module makes once, as a buffer at the end of its `__init__`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capturelint.finding import Edit, Fix, Span
from capturelint.rewrite.compose import applied
from capturelint.source import split_lines

_INIT = "__init__"
_OTHER_WAYS = ("__new__", "__copy__", "__deepcopy__", "__setstate__", "__reduce__", "__reduce_ex__")
_WIDTH = 100


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of a class. `own`: what the method that reads it calls its module.

    `text`: the expression that makes its tensor, on the host.
    """

    cls: str
    own: str
    name: str
    text: str

    @property
    def placeholder(self) -> str:
        """The global name that stands for the buffer until no module without it is left."""
        return f"__capturelint_held_{self.name}__"


def why_no_buffer(tree: ast.Module, qualname: str) -> str:
    """Return why a method cannot read a buffer that `__init__` makes, "" if it can."""
    cls, _, method = qualname.partition(".")
    function = _method(tree, cls, method)
    is_plain = function is not None and not function.decorator_list and method != _INIT
    if not is_plain or function is None or not function.args.args:
        return "it is no plain method of a class of its file"
    init = _method(tree, cls, _INIT)
    if init is None or not init.args.args:
        return "its class has no `__init__`"
    if init.body[0].lineno == init.lineno or any(map(_leaves, ast.walk(init))):
        return "the `__init__` of its class may end early"
    if any(_makes_without_init(one) for one in ast.walk(tree)):
        return "its file makes or copies modules in another way than by `__init__`"
    calls = [one for one in init.body if isinstance(one, ast.Expr)]
    if not any(ast.unparse(one).startswith("super().__init__(") for one in calls):
        return "the `__init__` of its class does not call that of `nn.Module`"
    return ""


def own_name(tree: ast.Module, qualname: str) -> str:
    """Return what a method of which a buffer can be read calls its module."""
    cls, _, method = qualname.partition(".")
    function = _method(tree, cls, method)
    assert function is not None, "that was asked before"
    return function.args.args[0].arg


def with_buffers(text: str, buffers: Iterable[Buffer]) -> str:
    """Return a file in which classes make their buffers, and methods read them."""
    wanted = list(dict.fromkeys(buffers))
    made = making(text, wanted)
    for buffer in wanted:
        text = text.replace(buffer.placeholder, f"{buffer.own}.{buffer.name}")
    return applied(text, [made]) if made.edits else text


def making(text: str, buffers: Iterable[Buffer]) -> Fix:
    """Return the edits by which the classes of a file make their buffers."""
    edits: list[Edit] = []
    wanted = list(dict.fromkeys(buffers))
    for cls in dict.fromkeys(one.cls for one in wanted):
        lines = [one for buffer in wanted if buffer.cls == cls for one in _registered(buffer, text)]
        edits.append(_edit(text, cls, lines))
    return Fix("proven", tuple(edits))


def _registered(buffer: Buffer, text: str) -> Iterator[str]:
    init = _method(ast.parse(text), buffer.cls, _INIT)
    assert init is not None, "that was asked before"
    own = init.args.args[0].arg
    line = f'{own}.register_buffer("{buffer.name}", {buffer.text}, persistent=False)'
    if len(line) + init.body[0].col_offset <= _WIDTH and "\n" not in line:
        yield line
        return
    yield f"{own}.register_buffer("
    yield f'    "{buffer.name}",'
    yield f"    {buffer.text},"
    yield "    persistent=False,"
    yield ")"


def _edit(text: str, cls: str, lines: list[str]) -> Edit:
    """Return the edit that adds lines to the end of a class's `__init__`."""
    init = _method(ast.parse(text), cls, _INIT)
    assert init is not None, "that was asked before"
    last = init.body[-1].end_lineno or init.lineno
    end = len(split_lines(text)[last - 1])
    indent = " " * init.body[0].col_offset
    new = "".join(f"\n{indent}{line}" for line in lines)
    return Edit(Span(last, end, last, end), new)


def _method(tree: ast.Module, cls: str, name: str) -> ast.FunctionDef | None:
    """Return a method that a class of a file defines, None if that is not done once."""
    owners = [one for one in tree.body if isinstance(one, ast.ClassDef) and one.name == cls]
    named = (ast.FunctionDef, ast.AsyncFunctionDef)
    found = [
        one for owner in owners for one in owner.body if isinstance(one, named) and one.name == name
    ]
    if len(owners) != 1 or len(found) != 1 or not isinstance(found[0], ast.FunctionDef):
        return None
    return found[0]


def _leaves(node: ast.AST) -> bool:
    return isinstance(node, ast.Return | ast.Yield | ast.YieldFrom)


def _makes_without_init(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return (node.name if isinstance(node, ast.FunctionDef) else name) in _OTHER_WAYS
