"""Why a line to blame stays that no pattern knows: what it does on the host, and what to do by hand."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from capturelint.verdict import Culprit

NO_PATTERN = "no pattern is known for it"
NEVER_RAN = (
    "no eager run led to it, as where code asks if a stream is being captured, and only what runs is"
    " proven; change it by hand, or with `check --fix` where the source alone decides"
)
IN_LAMBDA = (
    "it stands in a `lambda`, which is not rewritten; make it a function of its file, or a method"
)
_LISTED = (
    "gives Python as many numbers as a tensor holds; hand them in as numbers beside the tensor, or leave"
    " what needs them out of the graph"
)
_SCRIPTED = "is compiled by TorchScript, whose code is not rewritten; mend it there, or take `torch.jit.script` away"
_CHECKED = (
    "raises where a tensor says so, which the device cannot do; `--unsafe-fixes` writes"
    " `torch._assert_async`, whose failure ends the CUDA context of the process"
)
_SHOWN = (
    "the text shows what a tensor holds, and is made each time; make it where it is shown, or leave it out"
    " while a stream is being captured"
)
_ELSEWHERE = (
    "computes on the host, with another library than torch; compute it with torch on the device, or"
    " once, in `__init__`"
)
_INDEX = (
    "is copied to the device each time it is an index; make it a tensor there once, in `__init__` with"
    " `register_buffer`"
)
_DRAWN = (
    "is drawn on the host, and copied to the device each time it is an index; draw it there, which gives"
    " other numbers"
)
_BY_CODE = {
    "CL101": "a number is needed on the host; hand it in as a number of Python's, or keep it a tensor",
    "CL102": "a tensor is copied to the host; compute what needs it on the device, or behind the graph",
    "CL201": "numbers of the host are copied to the device; make them there, or once in `__init__`",
    "CL202": "a tensor of the host is copied to the device; make it there, or once in `__init__`",
    "CL203": "an index is copied to the device; make it a tensor there once, in `__init__`",
    "CL701": "the host waits for the device; leave it out, or wait behind the graph",
}
# Packages whose functions compute with what the host holds.
_OTHERS = frozenset(("numpy", "scipy", "decimal", "math", "pandas"))
_DRAWING = frozenset(("rand", "randint", "randn", "randperm", "multinomial", "bernoulli"))
_CHECKS = frozenset(("_check_tensor_all", "_check_tensor_all_with"))


def why_unknown(culprit: Culprit, text: str) -> str:
    """Return why a line stays that is to blame, by what the source of its file says of it.

    In general words where that does not tell; `text`: the whole file.
    """
    line = culprit.place.line if culprit.place is not None else 0
    tree = ast.parse(text)
    for node in _nodes_at(tree, line):
        why = _why(node, tree, culprit)
        if why:
            return f"line {line}: {why}"
    why = _BY_CODE.get(culprit.code, "")
    return f"line {line}: {why}" if why else NO_PATTERN


def _nodes_at(tree: ast.Module, line: int) -> Iterator[ast.expr]:
    """Yield the expressions of the innermost statement at a line that stand on it, the outer ones first."""
    around = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.stmt) and one.lineno <= line <= (one.end_lineno or 0)
    ]
    for node in ast.walk(around[-1]) if around else ():
        if isinstance(node, ast.expr) and node.lineno <= line <= (node.end_lineno or 0):
            yield node


def _why(node: ast.expr, tree: ast.Module, culprit: Culprit) -> str:
    if isinstance(node, ast.Call):
        return _why_call(node, tree)
    is_read = "_local_scalar_dense" in culprit.operation or culprit.code in ("CL101", "CL103")
    if isinstance(node, ast.JoinedStr) and is_read:
        return _SHOWN
    if isinstance(node, ast.Subscript) and culprit.code == "CL203":
        index = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        held = [one for one in index if isinstance(one, ast.Attribute)]
        drawn = [one for one in index if isinstance(one, ast.Name) and _is_drawn(one, tree)]
        if drawn:
            return f"`{drawn[0].id}` {_DRAWN}"
        return f"`{ast.unparse(held[0])}` {_INDEX}" if held else ""
    return ""


def _is_drawn(name: ast.Name, tree: ast.Module) -> bool:
    """Return whether the last statement above a place that assigns a name draws random numbers on the host."""
    around = [
        one
        for one in ast.walk(tree)
        if isinstance(one, ast.FunctionDef) and one.lineno <= name.lineno <= (one.end_lineno or 0)
    ]
    above = [
        one.value
        for one in ast.walk(around[-1] if around else tree)
        if isinstance(one, ast.Assign)
        and one.lineno < name.lineno
        and any(isinstance(to, ast.Name) and to.id == name.id for to in one.targets)
    ]
    last = max(above, key=lambda one: one.lineno, default=None)
    if not isinstance(last, ast.Call) or any(one.arg == "device" for one in last.keywords):
        return False
    module, _, function = ast.unparse(last.func).rpartition(".")
    return module == "torch" and function in _DRAWING


def _why_call(node: ast.Call, tree: ast.Module) -> str:
    called = ast.unparse(node.func)
    last = called.rpartition(".")[2]
    if last in _CHECKS:
        return f"`{called}()` {_CHECKED}"
    if isinstance(node.func, ast.Attribute) and last == "tolist":
        return f"`{ast.unparse(node)}` {_LISTED}"
    if called in _scripted(tree):
        return f"`{called}()` {_SCRIPTED}"
    root = called.partition(".")[0].partition("(")[0]
    is_other = root in _from_others(tree) or last == "numpy"
    return f"`{called}()` {_ELSEWHERE}" if is_other else ""


def _scripted(tree: ast.Module) -> set[str]:
    """Return the names of functions that TorchScript compiles where they are defined."""
    return {
        one.name
        for one in tree.body
        if isinstance(one, ast.FunctionDef)
        and any(
            ast.unparse(by).partition("(")[0].endswith("jit.script") for by in one.decorator_list
        )
    }


def _from_others(tree: ast.Module) -> set[str]:
    """Return the names that a file gives to packages which compute on the host, and to parts of them."""
    found: set[str] = set()
    for one in ast.walk(tree):
        if isinstance(one, ast.Import):
            named = [(alias.name, alias.asname or alias.name) for alias in one.names]
        elif isinstance(one, ast.ImportFrom):
            named = [(one.module or "", alias.asname or alias.name) for alias in one.names]
        else:
            continue
        found |= {name for module, name in named if module.partition(".")[0] in _OTHERS}
    return found
