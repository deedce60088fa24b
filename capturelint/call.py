"""What the text of a call says: its method, its arguments, whether it waits."""

from __future__ import annotations

import libcst as cst


def method_call(node: cst.Call) -> tuple[cst.BaseExpression, str] | None:
    """Return receiver and method name of `receiver.method(...)`, or None for another call."""
    if isinstance(node.func, cst.Attribute):
        return node.func.value, node.func.attr.value
    return None


def argument(
    node: cst.Call, keyword: str, position: int | None = None
) -> cst.BaseExpression | None:
    """Return the argument given by `keyword` or at `position` (from 0), or None.

    None also when a `*args` before it hides the position.
    """
    for index, arg in enumerate(node.args):
        if arg.star == "*" and position is not None and index <= position:
            return None
        if arg.keyword is not None and arg.keyword.value == keyword:
            return arg.value
        if arg.keyword is None and not arg.star and index == position:
            return arg.value
    return None


def is_asynchronous(node: cst.Call) -> bool:
    """Return whether a copy is asked not to wait, by `non_blocking=True` or a value not known.

    By position, as in `copy_(source, True)`, only True is taken for it.
    """
    given = argument(node, "non_blocking")
    if given is not None:
        return not (isinstance(given, cst.Name) and given.value == "False")
    return any(
        isinstance(arg.value, cst.Name) and arg.value.value == "True"
        for arg in node.args[1:]
        if arg.keyword is None
    )


def has_star_arguments(node: cst.Call) -> bool:
    """Return whether `*args` or `**kwargs` may hide arguments of a call."""
    return any(arg.star for arg in node.args)
