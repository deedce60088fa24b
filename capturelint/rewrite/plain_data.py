"""Whether reading an expression surely runs no code but Python's and torch's own.

What is printed is turned into text, and any class of a project may do as it likes there: in a property,
in an operator, in `__str__`. An iterator is used up. So all that is not known is left alone.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.kind import Kind
from capturelint.rewrite.bindings import Binding, Way, bindings, parameter
from capturelint.rewrite.own_attributes import is_plain_attribute
from capturelint.rewrite.purity import is_pure_function, is_pure_method
from capturelint.rewrite.site import Facts
from capturelint.rule import method_call

_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        "abs bool enumerate float format int len list max min range repr reversed round set sorted"
        " str sum tuple zip"
    ).split()
)
_WORDS = frozenset(("True", "False", "None", "__name__", "__file__"))
_HINTS = frozenset(
    ("int", "float", "bool", "str", "None", "torch.device", "torch.dtype", "torch.Size")
)
_OUTSIDE = frozenset(("sys.stderr", "sys.stdout", "math.pi", "math.e", "math.inf", "math.nan"))
_OF_TENSORS = frozenset(
    "shape dtype device ndim T mT is_cuda requires_grad is_leaf layout itemsize nbytes data".split()
)
# Parts of a named tuple, such as `x.max(0)` gives.
_OF_RESULTS = frozenset(("values", "indices"))
_OF_FACTS = frozenset(("type", "index", "itemsize", "is_floating_point", "is_complex"))
_CONSTANTS = (bool, int, float, str, type(None))
_COMPOUNDS = (
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.UnaryOperation,
    cst.Comparison,
    cst.IfExp,
    cst.Tuple,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.Subscript,
    cst.FormattedString,
    cst.ConcatenatedString,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.GeneratorExp,
)
_LITERALS = (cst.BaseNumber, cst.SimpleString, cst.Ellipsis)
# What a name must not be bound to: others may have changed it since, or used it up.
_CHANGING = (cst.List, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp, cst.GeneratorExp)
_CHANGING_CALLS = frozenset(
    f"builtins.{name}" for name in ("enumerate", "list", "reversed", "set", "sorted", "zip")
)
_CHANGING_METHODS = frozenset(("tolist", "numpy"))


class PlainData:
    """Judge of the expressions of one function."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts

    def unknown(
        self, node: cst.BaseExpression, known: frozenset[str] = frozenset()
    ) -> cst.BaseExpression | None:
        """Return the first part of an expression that may run other code; None if there is none.

        `known`: names that are known to be plain, or are being asked about further out.
        """
        if isinstance(node, _LITERALS):
            return None
        if isinstance(node, cst.Name):
            return None if self._is_plain_name(node, known) else node
        if isinstance(node, cst.Attribute):
            return self._unknown_attribute(node, known)
        if isinstance(node, cst.Call):
            return self._unknown_call(node, known)
        if not isinstance(node, _COMPOUNDS):
            return node
        if isinstance(node, cst.BaseComp):
            # What it goes over is read outside of it, where its names mean something else.
            first = self.unknown(node.for_in.iter, known)
            if first is not None:
                return first
            known |= _comprehended(node)
        return next((one for part in _parts(node) if (one := self.unknown(part, known))), None)

    def _is_plain_name(self, node: cst.Name, known: frozenset[str]) -> bool:
        name, facts = node.value, self._facts
        if name in known or name in _WORDS:
            return True
        full = facts.full_name(node)
        if full:
            return _is_plain_outside(full)
        value = facts.value(node)
        if self._is_tensor(node) or (value.kind is Kind.SHAPE and value.element is None):
            return not value.weak
        if value.constant and type(value.constant[0]) in _CONSTANTS:
            return True
        given = parameter(facts.tree, name)
        places = bindings(facts.tree, name)
        if places is None or (given is None and not places):
            return False
        if given is not None and not _is_plain_hint(given, facts):
            return False
        known |= {name}
        return not any(self._may_change(one) or self.unknown(one.source, known) for one in places)

    def _may_change(self, binding: Binding) -> bool:
        """Return whether others may change, or use up, what a name is bound to."""
        way, source = binding
        is_looped_over = way is not Way.VALUE and (
            isinstance(source, cst.Call)
            and self._facts.full_name(source.func) in ("builtins.enumerate", "builtins.zip")
        )
        for part in _inside(source) if is_looped_over else (source, *_inside(source)):
            if isinstance(part, _CHANGING):
                return True
            if isinstance(part, cst.Call):
                called = method_call(part)
                is_method = called is not None and called[1] in _CHANGING_METHODS
                if is_method or self._facts.full_name(part.func) in _CHANGING_CALLS:
                    return True
        return False

    def _unknown_attribute(
        self, node: cst.Attribute, known: frozenset[str]
    ) -> cst.BaseExpression | None:
        facts, word = self._facts, node.attr.value
        full = facts.full_name(node)
        if full and not full.startswith("@"):
            return None if _is_plain_outside(full) else node
        if isinstance(node.value, cst.Name) and node.value.value == "self":
            return None if self._is_own_data(node) else node
        words = _OF_TENSORS if self._is_tensor(node.value) else _OF_FACTS
        is_part = word in _OF_RESULTS and self._is_tensor(node) and isinstance(node.value, cst.Call)
        return self.unknown(node.value, known) if word in words or is_part else node

    def _is_tensor(self, node: cst.BaseExpression) -> bool:
        """Return whether an expression is a tensor, or None or a number, and of no other class."""
        value = self._facts.value(node)
        is_sure = not (value.weak or value.refs or self._facts.has_subclasses)
        return value.is_tensor and is_sure

    def _is_own_data(self, node: cst.Attribute) -> bool:
        value = self._facts.value(node)
        is_constant = bool(value.constant) and type(value.constant[0]) in _CONSTANTS
        if not (self._is_tensor(node) or is_constant or node.attr.value == "training"):
            return False
        if bindings(self._facts.tree, "self") != []:
            return False
        return is_plain_attribute(self._facts.file, self._facts.function, node.attr.value)

    def _unknown_call(self, node: cst.Call, known: frozenset[str]) -> cst.BaseExpression | None:
        facts = self._facts
        full, called = facts.full_name(node.func), method_call(node)
        if any(arg.star == "**" for arg in node.args):
            return node
        if full:
            if not (full in _BUILTINS or is_pure_function(node, full)):
                return node
        elif called is None:
            return node
        else:
            if not is_pure_method(node, facts):
                return node
            unknown = self.unknown(called[0], known)
            if unknown is not None:
                return unknown
        return next((one for arg in node.args if (one := self.unknown(arg.value, known))), None)


def _is_plain_outside(full: str) -> bool:
    """Return whether a dotted name outside the project is a constant, or a class of warnings."""
    first, _, rest = full.partition(".")
    if full in _OUTSIDE or (first == "builtins" and rest.endswith("Warning")):
        return True
    return (first == "logging" and rest.isupper()) or full.startswith("@d")


def _is_plain_hint(given: cst.Param, facts: Facts) -> bool:
    """Return whether a parameter is said to be a number, a text or the like, its default too."""
    if given.annotation is None:
        return False
    words = facts.text(given.annotation.annotation).strip("\"'").split("|")
    return all(word.strip() in _HINTS for word in words)


def _parts(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield the expressions right inside of one; the names that it binds are among them."""
    for child in node.children:
        if isinstance(child, cst.BaseExpression):
            yield child
        else:
            yield from _parts(child)


def _comprehended(node: cst.BaseComp) -> frozenset[str]:
    """Return the names that a comprehension binds: parts of what it goes over."""
    found: set[str] = set()
    inner: cst.CompFor | None = node.for_in
    while inner is not None:
        names = (inner.target, *_inside(inner.target))
        found.update(one.value for one in names if isinstance(one, cst.Name))
        inner = inner.inner_for_in
    return frozenset(found)


def _inside(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    for child in node.children:
        if isinstance(child, cst.BaseExpression):
            yield child
        yield from _inside(child)
