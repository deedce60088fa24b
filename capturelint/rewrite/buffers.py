"""Written numbers that a module makes once, as a buffer, first of all in its `__init__`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from capturelint.finding import Edit, Fix, Span
from capturelint.rewrite.compose import applied
from capturelint.source import split_lines

_INIT = "__init__"
_OTHER_WAYS = ("__new__", "__copy__", "__deepcopy__", "__setstate__", "__reduce__", "__reduce_ex__")
_LISTING = frozenset(("buffers", "named_buffers", "_buffers"))
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
    if any(map(_lists_buffers, ast.walk(tree))):
        return "its file goes through the buffers of modules, and would meet a new one"
    if any(_is_of_class(one, cls, method) for one in ast.walk(tree)):
        return f"its file names `{cls}.{method}`, which may run on what has no such buffer"
    if _start(init) is None:
        return "the `__init__` of its class does not call that of `nn.Module` on lines of its own"
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
    """Return the edit that adds lines to a class's `__init__`, before any that may read a buffer."""
    init = _method(ast.parse(text), cls, _INIT)
    start = None if init is None else _start(init)
    assert start is not None, "that was asked before"
    held, last = split_lines(text), start.end_lineno or start.lineno
    end = len(held[last - 1])
    indent = held[start.lineno - 1][: start.col_offset]  # of spaces or tabs
    new = "".join(f"\n{indent}{line}" for line in lines)
    return Edit(Span(last, end, last, end), new)


def _start(init: ast.FunctionDef) -> ast.Expr | None:
    """Return the statement that calls the `__init__` of `nn.Module`, None if it shares its lines, or there is none."""
    for number, one in enumerate(init.body):
        if isinstance(one, ast.Expr) and ast.unparse(one).startswith("super().__init__("):
            beside = (*init.body[:number], *init.body[number + 1 :])
            taken = {line for other in beside for line in (other.lineno, other.end_lineno)}
            return None if taken & {one.lineno, one.end_lineno} else one
    return None


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


def _lists_buffers(node: ast.AST) -> bool:
    """Return whether code reads all buffers of something, or names what lists them."""
    if isinstance(node, ast.Constant):
        return node.value in _LISTING
    return isinstance(node, ast.Attribute) and node.attr in _LISTING


def _is_of_class(node: ast.AST, cls: str, method: str) -> bool:
    """Return whether code reads a method from its class, as in `Model.pick(other, x)`."""
    if not isinstance(node, ast.Attribute) or node.attr != method:
        return False
    return ast.unparse(node.value).rpartition(".")[2] == cls


def _makes_without_init(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return (node.name if isinstance(node, ast.FunctionDef) else name) in _OTHER_WAYS
