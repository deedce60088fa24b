"""What a function itself imports torch as, where nothing can have passed over the import."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from capturelint.finding import Span
from capturelint.rewrite.bindings import function_of, is_bound_elsewhere, parameter
from capturelint.rewrite.imports import Torch

_NAME = "torch"


def torch_in_function(
    tree: cst.Module, line: int, positions: Mapping[cst.CSTNode, Span]
) -> Torch | None:
    """Return the name that a function gives to torch before a line, in its body and nowhere else."""
    function = function_of(tree)
    if function is None or not isinstance(function.body, cst.IndentedBlock):
        return None
    for statement in function.body.body:
        if positions[statement].line >= line or not isinstance(statement, cst.SimpleStatementLine):
            continue
        for small in statement.body:
            name = _imported(small)
            is_other = bool(parameter(tree, name)) or is_bound_elsewhere(tree, name, small)
            if name and not is_other:
                return Torch(name, line=positions[statement].line)
    return None


def _imported(node: cst.BaseSmallStatement) -> str:
    """Return the name by which a statement imports torch itself, "" for none."""
    if not isinstance(node, cst.Import):
        return ""
    for alias in node.names:
        if isinstance(alias.name, cst.Name) and alias.name.value == _NAME:
            return alias.evaluated_alias or _NAME
    return ""
