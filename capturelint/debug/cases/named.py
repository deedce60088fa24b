"""Whether there is what the user named, seen from the source alone: without torch, at once."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from capturelint.debug.cases.importing import Target, is_file, parsed
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.requirements import require

_LIBRARIES = {"hf:": "transformers", "timm:": "timm"}
# A file that uses these may have names that nobody reads in its source.
_MAKING_NAMES = frozenset({"globals", "vars", "exec", "setattr", "__getattr__"})
_OF_OTHERS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def check_named(target: str, inputs: str | None) -> None:
    """Raise `CaseError` for what is sure to be a mistake: no file, no Python, no such name in it.

    `inputs`: the name of what makes them, or None. What only an import can tell is left.
    """
    within = None
    package = next((one for start, one in _LIBRARIES.items() if target.startswith(start)), None)
    if package is not None:
        require(package)
    else:
        named = parsed(target)
        within = named.place
        _check(named)
    if inputs is not None:
        _check(parsed(inputs, within=within, role="what makes inputs"))


def _check(target: Target) -> None:
    if not is_file(target.place):
        return
    name = target.name.partition(".")[0]
    try:
        tree = ast.parse(Path(target.place).read_bytes())
    except SyntaxError as error:
        raise CaseError(f"{target.place}:{error.lineno}: {error.msg}; correct it first") from error
    except (ValueError, OSError) as error:
        raise CaseError(f"{target.place} cannot be read as Python: {error}") from error
    names = set(_bound(tree))
    if name in names or _may_have_others(tree):
        return
    defined = set(_bound(tree, with_imports=False))
    near = get_close_matches(name, [one for one in defined if not one.startswith("_")], n=1)
    own = [one.name for one in tree.body if isinstance(one, (ast.FunctionDef, ast.ClassDef))]
    listed = f"it has {', '.join(own)}" if own else "name a factory, a module or a Case in it"
    hint = f"did you mean {near[0]}?" if near else listed
    raise CaseError(f"{target.place} has no {name!r}; {hint}")


def _bound(tree: ast.AST, *, with_imports: bool = True) -> Iterator[str]:
    """Yield the names that a file binds, outside of functions and classes and as `global`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            if with_imports:
                yield from ((one.asname or one.name).partition(".")[0] for one in node.names)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            yield node.name
        if not isinstance(node, _OF_OTHERS):
            yield from _bound(node, with_imports=with_imports)


def _may_have_others(tree: ast.Module) -> bool:
    """Return whether it may bind names that are not read in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and any(one.name == "*" for one in node.names):
            return True
        if isinstance(node, (ast.Global, ast.Match)):
            return True
        name = getattr(node, "id", None) or getattr(node, "name", None)
        if name in _MAKING_NAMES:
            return True
    return False
