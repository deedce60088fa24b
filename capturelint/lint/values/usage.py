"""What the body of a function tells of its parameters by the use it makes of them."""

from __future__ import annotations

import ast

from capturelint.lint.values import tables
from capturelint.lint.values.frame import chain_text
from capturelint.lint.values.walk import branches
from capturelint.source import FunctionNode

_TORCH = ("torch.nn.functional.", "nn.functional.", "F.")
_SIZED = frozenset("isinstance len enumerate zip list tuple callable".split())
# What captured code uses only of tensors; arrays and tables have no place in it.
_PROOFS = tables.PROVING_METHODS | frozenset(
    "shape size is_cuda requires_grad view dim any all sum mean max min argmax argmin long bool half "
    "cumsum transpose reshape flatten".split()
)
# Proofs that modules, which are on a device too, have as well.
_OF_MODULES = frozenset({"half", "requires_grad", "requires_grad_", "bfloat16"})
_TENSOR_NAMES = frozenset(
    "x y z input inputs hidden_states input_ids inputs_embeds features tokens query key value q k v "
    "img image images tensor logits embeddings positions attention_mask mask sample latents".split()
)


def names_doubted(node: FunctionNode) -> frozenset[str]:
    """Return the names that a function compares with None: their annotations promise too much."""
    return frozenset(
        inner.left.id
        for inner in branches(node)
        if type(inner) is ast.Compare
        and isinstance(inner.left, ast.Name)
        and isinstance(inner.ops[0], (ast.Is, ast.IsNot))
        and _is_none(inner.comparators[0])
    )


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def tensor_names(node: FunctionNode) -> tuple[frozenset[str], frozenset[str]]:
    """Return names that the function uses as only a tensor can be used, and those beyond doubt."""
    used: set[str] = set()
    proven: set[str] = set()
    placed: set[str] = set()
    unlike_modules: set[str] = set()
    for inner in branches(node):
        if type(inner) is ast.Attribute:
            holder = inner.value
            if type(holder) is not ast.Name:
                continue
            if inner.attr in _PROOFS:
                used.add(holder.id)
                if inner.attr in tables.PROVING_METHODS:
                    proven.add(holder.id)
                if inner.attr not in _OF_MODULES:
                    unlike_modules.add(holder.id)
            elif inner.attr == "device":
                placed.add(holder.id)
        elif type(inner) is ast.Call and inner.args:
            first = inner.args[0]
            if type(first) is ast.Name and chain_text(inner.func).startswith(_TORCH):
                used.add(first.id)
    # Arrays are on no device, and what else is on one has no sizes or sums.
    return frozenset(used), frozenset(proven | (placed & unlike_modules))


def is_plain_first(node: FunctionNode, name: str) -> bool:
    """Return whether `name` is the first argument, has a tensor's name, and is used like one.

    `forward(self, x)`: what a module is given first is a tensor, unless it is used as a container.
    """
    positional = [*node.args.posonlyargs, *node.args.args]
    start = 1 if positional and positional[0].arg in ("self", "cls") else 0
    if len(positional) <= start or positional[start].arg != name:
        return False
    if positional[start].annotation is not None or name not in _TENSOR_NAMES:
        return False
    return not any(_is_container_use(inner, name) for inner in ast.walk(node))


def _is_container_use(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Attribute):
        return _is_name(node.value, name) and node.attr not in tables.TENSOR_MEMBERS
    if isinstance(node, ast.Subscript):
        is_text = isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
        return _is_name(node.value, name) and (is_text or isinstance(node.slice, ast.Constant))
    if isinstance(node, ast.Call) and chain_text(node.func) in _SIZED:
        return any(_is_name(arg, name) for arg in node.args)
    if isinstance(node, (ast.For, ast.comprehension)):
        return _is_name(node.iter, name)
    if isinstance(node, ast.Starred):
        return _is_name(node.value, name)
    if isinstance(node, ast.keyword):
        return node.arg is None and _is_name(node.value, name)
    return isinstance(node, ast.Call) and _is_name(node.func, name)


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
