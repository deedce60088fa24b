"""What an attribute of an instance is: a method, a property, or what the class's own code stores."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from capturelint.kind import NAMED_HOST_TENSOR, UNKNOWN, Kind, Ref, Role, Value
from capturelint.lint.symbols import Function
from capturelint.lint.values import hints, tables
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import join, join_all

if TYPE_CHECKING:
    from capturelint.lint.values.analysis import Analysis

_PROPERTIES = frozenset({"property", "cached_property", "functools.cached_property"})
_MOST_OVERRIDES = 120
_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})


class Attributes:
    """Attributes of project classes, each worked out once."""

    def __init__(self, analysis: Analysis) -> None:
        self._analysis = analysis
        self._values: dict[tuple[int, str], Value | None] = {}
        self._found: dict[tuple[Ref, str], tuple[int, ...]] = {}
        self._bound: dict[tuple[Ref, str], Value] = {}
        self._storing: dict[int, dict[str, list[Function]]] = {}

    def lookup(self, frame: Frame, ref: Ref, name: str) -> Value | None:
        """Return `name` of an instance (or class); a property is called. None if nothing is known."""
        key = (ref, name)
        bound = self._bound.get(key)
        if bound is not None:
            return bound
        methods = self._found.get(key)
        if methods is None:
            methods = tuple(self._methods(ref, name))
        first = self._analysis.project.functions[methods[0]] if methods else None
        if first is None:
            self._found[key] = methods
            return self._analysis.asked.stored(frame, ref.at, name)
        if not _PROPERTIES.isdisjoint(first.facts.decorators):
            self._found[key] = methods
            return self._property(frame, ref, methods)
        bound = self._bound[key] = self._bind(ref, name, methods, first)
        return bound

    def _bind(self, ref: Ref, name: str, methods: tuple[int, ...], first: Function) -> Value:
        """Return what reading `name` of an instance (or class) gives that has such methods."""
        if name == "apply" and first.facts.name == "forward":
            # An autograd function: torch gives `forward` the context first.
            return Value(Kind.HOST_VALUE, refs=(Ref(Role.METHOD, methods[0], ref.at),))
        role = Role.METHOD if ref.role is Role.INSTANCE else Role.FUNCTION
        if "staticmethod" in first.facts.decorators:
            role = Role.FUNCTION
        elif "classmethod" in first.facts.decorators:
            role = Role.METHOD
        return Value(Kind.HOST_VALUE, refs=tuple(Ref(role, index, ref.at) for index in methods))

    def _methods(self, ref: Ref, name: str) -> list[int]:
        """Return the functions `name` may be: the class's own or inherited one, and overrides."""
        project = self._analysis.project
        own = project.method(ref.at, name)
        if name == "apply" and own < 0:
            return self._autograd_forward(ref)
        found = [own] if own >= 0 else []
        if ref.role is Role.INSTANCE and not (name.startswith("__") and name != "__call__"):
            overrides = [index for index in project.overrides(ref.at, name) if index not in found]
            # What is only known as a base of everything is not known.
            found += overrides if len(overrides) <= _MOST_OVERRIDES else []
        return [i for i in found if not _is_abstract(project.functions[i])] or found

    def _autograd_forward(self, ref: Ref) -> list[int]:
        project = self._analysis.project
        if any(base.endswith("autograd.Function") for base in project.outside_bases(ref.at)):
            forward = project.method(ref.at, "forward")
            return [forward] if forward >= 0 else []
        return []

    def _property(self, frame: Frame, ref: Ref, methods: tuple[int, ...]) -> Value:
        results = [
            self._analysis.asked.call(frame, Ref(Role.METHOD, index, ref.at), Arguments(), None)
            for index in methods
        ]
        return join_all(results)

    def is_known(self, index: int, name: str) -> bool:
        """Return whether an attribute has been worked out, or is being."""
        return (index, name) in self._values

    def stored(self, index: int, name: str) -> Value | None:
        """Return what the code of a class stores in an attribute, None if nothing is known."""
        key = (index, name)
        if key in self._values:
            return self._values[key]
        setup = self._analysis.setup
        before, setup.met_cycle = setup.met_cycle, False
        self._values[key] = None
        found = self._values[key] = self._work_out(index, name)
        if setup.met_cycle and setup.is_running:
            del self._values[key]
        setup.met_cycle = setup.is_running and (before or setup.met_cycle)
        return found

    def _work_out(self, index: int, name: str) -> Value | None:
        project = self._analysis.project
        order = project.order(index)
        found = self._from_stores(order, name, constructing=True)
        # What other methods store may rest on what the constructor stored.
        self._values[index, name] = found if found is not None else self._declared(order, name)
        later = self._from_stores(
            order, name, constructing=False, is_number=found is not None and _is_number(found)
        )
        if later is not None:
            found = later if found is None else join(found, later)
            found = found._replace(constant=() if not found.is_none else found.constant)
            if found.kind is Kind.HOST_TENSOR:
                found = found._replace(varies=True)
        if found is None or (found.is_unknown):
            declared = self._declared(order, name)
            if declared is not None and declared.constant and self._is_overridden(index, name):
                declared = declared._replace(constant=()) if not declared.is_none else UNKNOWN
            found = declared if declared is not None else found
        if found is None or (found.is_none and not found.refs):
            below = self._from_stores(project.subclasses(index)[:24], name)
            found = below if below is not None else found
        if found is None and name != "*" and name[-1:].isdigit():
            found = self._from_stores(order, "*")
        return self._by_name(name, found)

    def _is_overridden(self, index: int, name: str) -> bool:
        """Return whether a subclass says something else of a class-level name."""
        project = self._analysis.project
        facts = (project.classes[below].facts for below in project.subclasses(index))
        return any(name in one.assigns or name in one.fields for one in facts)

    def _by_name(self, name: str, found: Value | None) -> Value | None:
        if found is None:
            return None
        if found.constant and name in self._analysis.project.foreign:
            found = Value(optional=True) if found.is_none else found._replace(constant=())
        is_vague = found.kind in (Kind.UNKNOWN, Kind.DEVICE_TENSOR) and not found.refs
        if is_vague and self._analysis.surroundings.is_host_name(name):
            return NAMED_HOST_TENSOR
        is_config = tables.is_config_name(name)
        if is_config and found.is_unknown:
            return Value(Kind.HOST_VALUE)
        return found

    def _from_stores(
        self,
        order: tuple[int, ...],
        name: str,
        *,
        constructing: bool | None = None,
        is_number: bool = False,
    ) -> Value | None:
        """Return the join of what the classes' functions assign to `self.name`.

        `constructing`: only constructors, or only other functions; None for all. `is_number`: the
        constructor makes it one, so that a base that is ready for a tensor too says nothing new.
        """
        analysis = self._analysis
        found: Value | None = None
        for index in order:
            for function in self._storers(index).get(name, ()):
                is_constructor = function.facts.name in _CONSTRUCTORS
                if constructing is not None and is_constructor is not constructing:
                    continue
                stored = analysis.setup.stores(function.index).get(name)
                if is_number and stored is not None and stored.mixed and index != order[0]:
                    continue
                if stored is not None:
                    found = stored if found is None else join(found, stored)
                    if constructing is False and self._values.get((order[0], name)) is None:
                        # `self.step += 1` rests on what a method before it stored.
                        self._values[order[0], name] = stored
        return found

    def _storers(self, index: int) -> dict[str, list[Function]]:
        """Return, by attribute, the functions of a class that set it."""
        found = self._storing.get(index)
        if found is None:
            found = self._storing[index] = {}
            project = self._analysis.project
            for function in project.functions_of(project.classes[index].file):
                if function.facts.stores and project.owner_of(function) == index:
                    for name in function.facts.stores:
                        found.setdefault(name, []).append(function)
        return found

    def _declared(self, order: tuple[int, ...], name: str) -> Value | None:
        """Return what a class-level annotation or assignment says."""
        project = self._analysis.project
        for index in order:
            one = project.classes[index]
            text = one.facts.fields.get(name)
            if text:
                return hints.value_of_text(text, project, one.file.module)
            source = one.facts.assigns.get(name)
            if source:
                return self._analysis.setup.class_constant(one, source)
        return None


def _is_number(value: Value) -> bool:
    is_constant = bool(value.constant) and isinstance(value.constant[0], int | float)
    return value.kind is Kind.HOST_VALUE and is_constant


def _is_abstract(function: Function) -> bool:
    return any(d.rpartition(".")[2] == "abstractmethod" for d in function.facts.decorators)


def parameter_value(name: str, annotation: Value, default: ast.expr | None) -> Value:
    """Return what a parameter is from its own words: annotation, default and name."""
    if annotation.kind is not Kind.UNKNOWN or annotation.refs:
        return annotation
    if tables.is_config_name(name):
        return Value(Kind.HOST_VALUE)
    if name == "device":
        return Value(Kind.HOST_VALUE, name="@device")
    if name == "dtype":
        return Value(Kind.HOST_VALUE, name="@dtype.dtype")
    if isinstance(default, ast.Constant) and isinstance(default.value, bool | int | float | str):
        return Value(Kind.HOST_VALUE)
    return UNKNOWN
