"""Numbers of Python's whose type, or size, the source shows besides what a run showed of them."""

from __future__ import annotations

import ast

import libcst as cst

from capturelint.rewrite.bindings import Way, bindings, parameter
from capturelint.rewrite.literals import number
from capturelint.rewrite.observed import Observed
from capturelint.rewrite.site import is_repeatable
from capturelint.rewrite.uses import loads
from capturelint.rule import method_call

_GIVING_FLOATS = frozenset(
    "builtins.float math.cos math.exp math.log math.log10 math.log2 math.pow math.sin math.sqrt".split()
)
_COMPUTING = (cst.Add, cst.Subtract, cst.Multiply, cst.Modulo)
_MOST_NAMES = 5  # one bound to the next
_LARGEST = 3.4e38  # that a float32 holds


def is_surely_float(node: cst.BaseExpression, facts: Observed, names: int = 0) -> bool:
    """Return whether the source shows that a number is a fraction, whatever the ones that it is computed from are."""
    written = number(node)
    if written is not None:
        return isinstance(written, float)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus | cst.Plus):
        return is_surely_float(node.expression, facts, names)
    if isinstance(node, cst.Call):
        return facts.full_name(node.func) in _GIVING_FLOATS
    if isinstance(node, cst.BinaryOperation):
        sides = (node.left, node.right)
        is_any = any(is_surely_float(one, facts, names) for one in sides)
        # A power of a negative number may be complex.
        is_power = isinstance(node.operator, cst.Power) and _is_positive(node.left, facts)
        is_kept = is_any and (is_power or isinstance(node.operator, _COMPUTING))
        is_float = is_kept or isinstance(node.operator, cst.Divide)
        return is_float and all(_is_number(one, facts) for one in sides)
    sources = _sources(node, facts) if names < _MOST_NAMES else []
    return bool(sources) and all(is_surely_float(one, facts, names + 1) for one in sources)


def is_size(node: cst.BaseExpression, facts: Observed, names: int = 0) -> bool:
    """Return whether an integer is written, or a size of a tensor, or a sum of such: every float of 64 bits holds it."""
    if number(node) is not None:
        return type(number(node)) is int
    if isinstance(node, cst.Subscript):
        shape = node.value
        if not isinstance(shape, cst.Attribute) or shape.attr.value != "shape":
            return False
        return facts.is_int(node) and facts.is_tensor(shape.value)
    if isinstance(node, cst.Call):
        called = method_call(node)
        is_asked = called is not None and called[1] in ("size", "numel", "dim")
        return is_asked and called is not None and facts.is_int(node) and facts.is_tensor(called[0])
    if isinstance(node, cst.BinaryOperation):
        is_sum = isinstance(node.operator, cst.Add | cst.Subtract | cst.FloorDivide)
        return is_sum and all(is_size(one, facts, names) for one in (node.left, node.right))
    sources = _sources(node, facts) if names < _MOST_NAMES else []
    return bool(sources) and all(is_size(one, facts, names + 1) for one in sources)


def is_written_attribute(node: cst.BaseExpression, facts: Observed) -> bool:
    """Return whether a plain attribute of `self` is set to nothing but written numbers in its file."""
    if not isinstance(node, cst.Attribute) or not is_repeatable(node, facts):
        return False
    nodes = list(ast.walk(facts.whole))
    plain = [one for one in nodes if isinstance(one, ast.Assign) and len(one.targets) == 1]
    values = {id(one.targets[0]): one.value for one in plain}
    stores = [
        one for one in nodes if isinstance(one, ast.Attribute) and not isinstance(one.ctx, ast.Load)
    ]
    own = [values.get(id(one)) for one in stores if one.attr == node.attr.value]
    return bool(own) and all(map(_is_written, own))


def written_list(node: cst.BaseExpression, facts: Observed) -> cst.List | cst.Tuple | None:
    """Return the list that a name surely stands for, written out where it is bound; None if others may change it."""
    if not isinstance(node, cst.Name) or len(list(loads(node.value, facts))) != 1:
        return None
    sources = _sources(node, facts)
    found = sources[0] if len(sources) == 1 else None
    return found if isinstance(found, cst.List | cst.Tuple) else None


def _sources(node: cst.BaseExpression, facts: Observed) -> list[cst.BaseExpression]:
    """Return all that a name of a function is bound to, nothing if that cannot be told."""
    if not isinstance(node, cst.Name) or parameter(facts.tree, node.value) is not None:
        return []
    found = bindings(facts.tree, node.value) or []
    is_plain = all(one.way is Way.VALUE for one in found)
    return [one.source for one in found] if is_plain else []


def _is_positive(node: cst.BaseExpression, facts: Observed) -> bool:
    written = number(node)
    is_shape = isinstance(node, cst.Subscript | cst.Call) and is_size(node, facts)
    return is_shape if written is None else written >= 0


def _is_number(node: cst.BaseExpression, facts: Observed) -> bool:
    return number(node) is not None or facts.is_known_number(node)


def _is_written(node: ast.expr | None) -> bool:
    try:
        value = ast.literal_eval(node) if node is not None else None
    except ValueError:
        return False
    return isinstance(value, bool | int | float) and abs(value) <= _LARGEST
