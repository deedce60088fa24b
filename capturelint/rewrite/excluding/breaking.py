"""A class whose `forward` ends one graph, runs eagerly, and begins the next, with `breakable_cuda_graphs`.

The package is that of PyTorch's makers; torch itself (2.13) has nothing like it. Source in, source out.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from capturelint.finding import Edit, Fix, Span
from capturelint.rewrite.compose import applied
from capturelint.rewrite.excluding import PACKAGE
from capturelint.source import split_lines

_IMPORT = f"from {PACKAGE} import is_in_breakable_graph, no_graph"
# What the new code binds, besides `forward`. STUB is there once in a file.
OLD, BETWEEN, STUB = "_eager_forward", "_run_between_graphs", "_leave_output_unwritten"
_NAMES = (OLD, BETWEEN, STUB, "is_in_breakable_graph", "no_graph")
_PLAIN = (ast.Constant, ast.Name, ast.Attribute, ast.UnaryOp)


class CannotExcludeError(Exception):
    """The class cannot be changed so. The text says why."""


def broken_out(text: str, qualname: str, *, like: str, torch: str) -> str:
    """Return the text of a file in which a class runs its `forward` eagerly between graphs.

    `like`: the parameter whose shape and dtype the result has. `torch`: what torch is called there.
    Outside of such a capture the class does what it did. Raises `CannotExcludeError`.
    """
    tree = ast.parse(text)
    forward = _forward(tree, qualname)
    _check(forward, text)
    lines = split_lines(text)
    first, indent = lines[forward.lineno - 1], " " * forward.col_offset
    name = first.index("forward", forward.col_offset)
    end = forward.end_lineno or forward.lineno
    methods = _methods(forward, first, like=like, torch=torch)
    edits = [
        Edit(Span(forward.lineno, name, forward.lineno, name + len("forward")), OLD),
        _behind(lines, end, [f"{indent}{line}".rstrip() for line in methods]),
    ]
    if _IMPORT not in text:
        at = _line_of_imports(tree)
        edits.append(_behind(lines, at, [_IMPORT, *_STUB]))
    return applied(text, [Fix("proven", tuple(edits))])


def _behind(lines: Sequence[str], number: int, new: Sequence[str]) -> Edit:
    """Return the edit that puts lines behind one, or before the first."""
    if not number:
        return Edit(Span(1, 0, 1, 0), "".join(f"{line}\n" for line in new))
    end = len(lines[number - 1])
    return Edit(Span(number, end, number, end), "".join(f"\n{line}" for line in new))


_STUB = f"""

def {STUB}(self, output, *args, **kwargs) -> None:
    \"\"\"Stand in while graphs are captured: inputs hold nothing yet.\"\"\"
""".rstrip("\n").split("\n")


def _forward(tree: ast.Module, qualname: str) -> ast.FunctionDef:
    body: Sequence[ast.stmt] = tree.body
    for name in qualname.split("."):
        found = [one for one in body if isinstance(one, ast.ClassDef) and one.name == name]
        if len(found) != 1:
            raise CannotExcludeError(f"{qualname} is not one class on top of its file")
        body = found[0].body
    methods = [one for one in body if getattr(one, "name", "") == "forward"]
    if len(methods) != 1 or not isinstance(methods[0], ast.FunctionDef):
        raise CannotExcludeError(f"{qualname} has no plain `forward` of its own")
    return methods[0]


def _check(forward: ast.FunctionDef, text: str) -> None:
    """Raise `CannotExcludeError` for what would not stay the same."""
    if forward.decorator_list:
        raise CannotExcludeError("its `forward` is decorated")
    if any(isinstance(one, ast.Yield | ast.YieldFrom) for one in ast.walk(forward)):
        raise CannotExcludeError("its `forward` is a generator")
    defaults = [*forward.args.defaults, *filter(None, forward.args.kw_defaults)]
    if not all(isinstance(one, _PLAIN) for one in defaults):
        raise CannotExcludeError("a default in its signature is computed")
    if not [*forward.args.posonlyargs, *forward.args.args]:
        raise CannotExcludeError("its `forward` has no `self`")
    bound = set(_bound(ast.parse(text)))
    taken = [name for name in _NAMES if name in bound]
    if taken and _IMPORT not in text:
        raise CannotExcludeError(f"its file already calls something `{taken[0]}`")


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.alias):
            yield getattr(node, "id", "") or getattr(node, "asname", None) or node.name  # type: ignore[union-attr] # one of both
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Attribute | ast.arg):
            yield getattr(node, "name", "") or getattr(node, "attr", "") or getattr(node, "arg", "")


def _head(forward: ast.FunctionDef, first: str) -> str:
    """Return the line that begins `forward`, as it is written if it is one line."""
    if forward.body[0].lineno > forward.lineno and first.rstrip().endswith(":"):
        return first.strip()
    returns = f" -> {ast.unparse(forward.returns)}" if forward.returns is not None else ""
    return f"def forward({ast.unparse(forward.args)}){returns}:"


def _methods(forward: ast.FunctionDef, first: str, *, like: str, torch: str) -> list[str]:
    this, *passed = _passed(forward.args)
    given = ", ".join(passed)
    return [
        "",
        _head(forward, first),
        "    if not is_in_breakable_graph():",
        f"        return {this}.{OLD}({given})",
        f"    output = {torch}.empty_like({like})",
        f"    {this}.{BETWEEN}(output, {given})",
        "    return output",
        "",
        f"@no_graph(capture_stub={STUB})",
        f"def {BETWEEN}(self, output, *args, **kwargs) -> None:",
        f"    result = self.{OLD}(*args, **kwargs)",
        "    output.view_as(result).copy_(result)",
    ]


def _passed(args: ast.arguments) -> list[str]:
    """Return what hands on all that a function was given; the first is the object itself."""
    given = [one.arg for one in [*args.posonlyargs, *args.args]]
    if args.vararg is not None:
        given.append(f"*{args.vararg.arg}")
    given += [f"{one.arg}={one.arg}" for one in args.kwonlyargs]
    if args.kwarg is not None:
        given.append(f"**{args.kwarg.arg}")
    return given


def _line_of_imports(tree: ast.Module) -> int:
    """Return after which line imports may stand: after those on top of the file."""
    last = 0
    for number, one in enumerate(tree.body):
        is_docstring = (
            number == 0 and isinstance(one, ast.Expr) and isinstance(one.value, ast.Constant)
        )
        if not isinstance(one, ast.Import | ast.ImportFrom) and not is_docstring:
            break
        last = one.end_lineno or one.lineno
    return last
