"""Which modes of an engine are left on a way through captured code.

They are kept beside the names in scope, under a name that no code can have, so that they part and
meet again where names do, and are handed to what is called like one more argument.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from capturelint.kind import Kind, Ref, Role, Value
from capturelint.lint.patterns import Patterns
from capturelint.lint.project import Project
from capturelint.lint.symbols import Function
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.frame import Flag, Frame, raw_span
from capturelint.preset import Preset

MODES = "@modes"
_NONE: frozenset[Ref] = frozenset()

_Refs = tuple[Ref, ...]


class _Test(NamedTuple):
    """The modes that a test leaves out when it is true, and when it is false."""

    if_true: frozenset[Ref]
    if_false: frozenset[Ref]

    def left(self, modes: _Refs, *, outcome: bool) -> _Refs:
        out = self.if_true if outcome else self.if_false
        return tuple(mode for mode in modes if mode not in out)


class EngineModes:
    """What presets say of modes. A mode is told from those of other presets by its number."""

    def __init__(self, project: Project, presets: Sequence[Preset]) -> None:
        self._tests: dict[str, _Test] = {}
        self._none_in: dict[str, frozenset[Ref]] = {}
        self._functions: list[tuple[Patterns, frozenset[Ref]]] = []
        self._left: dict[int, frozenset[Ref]] = {}
        every: list[Ref] = []
        for preset in presets:
            said = preset.modes
            refs = {name: Ref(Role.MODE, len(every) + at) for at, name in enumerate(said.captured)}
            every.extend(refs.values())
            for test in said.tests:
                true_in = frozenset(refs[name] for name in test.true_in)
                unsure_in = frozenset(refs[name] for name in test.unsure_in)
                known = self._tests.get(test.name, _Test(frozenset(), frozenset()))
                false_in = frozenset(refs.values()) - true_in - unsure_in
                self._tests[test.name] = _Test(known.if_true | false_in, known.if_false | true_in)
            for attribute in said.attributes:
                self._none_in[attribute.name] = frozenset(refs[n] for n in attribute.none_in)
            for one in said.functions:
                out = frozenset(refs.values()) - {refs[name] for name in one.modes}
                self._functions.append((Patterns(one.patterns, project), out))
        self._values = frozenset(name for preset in presets for name in preset.modes.values)
        self.every = _value(tuple(every))

    def test_of(self, node: ast.expr, flags: Mapping[str, Flag]) -> _Test | None:
        """Return what is known of a test of the mode; None of any other expression.

        `flags` are the expressions that local names stand for.
        """
        if isinstance(node, ast.Compare):
            return self._compared(node)
        if not isinstance(node, ast.Call):
            return None
        asked = node.args[:1]
        if isinstance(node.func, ast.Attribute):
            asked.append(node.func.value)
        test = self._tests.get(_last_name(node.func))
        is_mode = test is not None and any(self.is_mode(one, flags) for one in asked)
        return test if is_mode else None

    def is_mode(self, node: ast.expr, flags: Mapping[str, Flag]) -> bool:
        """Return whether an expression stands for the mode."""
        if isinstance(node, ast.Name) and node.id in flags:
            node = flags[node.id].test
        return _last_name(node) in self._values

    def none_in(self, node: ast.expr) -> frozenset[Ref]:
        """Return the modes in which an attribute is None."""
        if not self._none_in or not isinstance(node, ast.Attribute):
            return _NONE
        return self._none_in.get(f"{_last_name(node.value)}.{node.attr}", _NONE)

    def _compared(self, node: ast.Compare) -> _Test | None:
        """Return what `x.attribute is None` or `is not None` tells, which may be None in others too."""
        out, right = self.none_in(node.left), node.comparators[0]
        is_none = isinstance(right, ast.Constant) and right.value is None
        if not out or not is_none or len(node.ops) > 1:
            return None
        if isinstance(node.ops[0], ast.Is):
            return _Test(_NONE, out)
        return _Test(out, _NONE) if isinstance(node.ops[0], ast.IsNot) else None

    def entered(self, function: Function, passed: Value) -> Value:
        """Return the modes in which a function runs, of those in which it is called.

        One that is called in others than presets say runs in all that they name.
        """
        out = self._left.get(function.index)
        if out is None:
            found = [one for patterns, one in self._functions if patterns.match(function)]
            out = self._left[function.index] = frozenset().union(*found)
        if not out:
            return passed
        left = tuple(mode for mode in passed.refs if mode not in out)
        return _value(left or tuple(mode for mode in self.every.refs if mode not in out))


def open_to_all(known: EngineModes | None, params: dict[str, Value]) -> None:
    """Note that a function may be called in any mode. `params`: what its callers pass."""
    if known is not None:
        params[MODES] = known.every


def pass_on(known: EngineModes | None, given: dict[str, Value], arguments: Arguments) -> None:
    """Add to what a call gives the modes in which it is made: all, unless some are `handed` on."""
    if known is not None:
        given[MODES] = dict(arguments.keywords).get(MODES, known.every)


def enter(frame: Frame, function: Function, params: Mapping[str, Value], *, is_root: bool) -> None:
    """Put the modes in which a function runs among its names. `params`: what its callers pass."""
    known = frame.analysis.surroundings.modes
    if known is not None:
        passed = known.every if is_root else params.get(MODES, known.every)
        frame.env[MODES] = known.entered(function, passed)


def handed(frame: Frame, arguments: Arguments) -> Arguments:
    """Return the arguments of a call with the modes in which it is made, where some are left out."""
    known = frame.analysis.surroundings.modes
    left = frame.env.get(MODES) if frame.captured else None
    if known is None or left is None or left == known.every:
        return arguments
    return arguments._replace(keywords=(*arguments.keywords, (MODES, left)))


def answer(frame: Frame, node: ast.Call | ast.Compare) -> Value | None:
    """Return the outcome of a test of the mode, where the modes that are left agree on one."""
    test, left = _asked(frame, node)
    if test is None or not left:
        return None
    for outcome in (True, False):
        if not test.left(left, outcome=not outcome):
            return Value(Kind.HOST_VALUE, constant=(outcome,))
    return None


def note_use(frame: Frame, node: ast.expr) -> None:
    """Note that code iterates something or asks for an attribute of it, which no None has."""
    known, left = frame.analysis.surroundings.modes, frame.env.get(MODES)
    out = _NONE if known is None else known.none_in(node)
    if left is not None and not out.isdisjoint(left.refs):
        frame.env = {**frame.env, MODES: _value(tuple(m for m in left.refs if m not in out))}


def narrowed(
    frame: Frame, node: ast.expr, env: dict[str, Value], *, outcome: bool
) -> dict[str, Value]:
    """Return names as they are where the condition `node` came out as `outcome`, by its modes."""
    before = env[MODES]
    left = _possible(frame, before.refs, node, outcome=outcome)
    return env if left == before.refs else {**env, MODES: _value(left)}


def is_over(env: Mapping[str, Value]) -> bool:
    """Return whether no mode is left, so that code is never captured."""
    left = env.get(MODES)
    return left is not None and not left.refs


def is_asked(frame: Frame, node: ast.expr) -> bool:
    """Return whether an expression is the mode, or a test of it."""
    known = frame.analysis.surroundings.modes
    if known is None:
        return False
    return known.is_mode(node, frame.flags) or known.test_of(node, frame.flags) is not None


def _possible(frame: Frame, modes: _Refs, node: ast.expr, *, outcome: bool) -> _Refs:
    """Return those of `modes` in which a condition may come out as `outcome`."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return _possible(frame, modes, node.operand, outcome=not outcome)
    if isinstance(node, ast.BoolOp):
        if isinstance(node.op, ast.And) is outcome:
            for operand in node.values:
                modes = _possible(frame, modes, operand, outcome=outcome)
            return modes
        found: set[Ref] = set()
        left = modes
        for operand in node.values:
            # It is this operand that decides: those before it came out the other way.
            found.update(_possible(frame, left, operand, outcome=outcome))
            left = _possible(frame, left, operand, outcome=not outcome)
        return tuple(mode for mode in modes if mode in found)
    if isinstance(node, ast.Name) and node.id in frame.flags:
        return _possible(frame, modes, frame.flags[node.id].test, outcome=outcome)
    test, _ = _asked(frame, node)
    if test is not None:
        return test.left(modes, outcome=outcome)
    known = frame.values.get(raw_span(node)) if frame.live else None
    return () if known is not None and known.constant == (not outcome,) else modes


def _asked(frame: Frame, node: ast.expr) -> tuple[_Test | None, _Refs]:
    known = frame.analysis.surroundings.modes
    left = frame.env.get(MODES)
    if known is None or left is None:
        return None, ()
    return known.test_of(node, frame.flags), left.refs


def _last_name(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _value(modes: _Refs) -> Value:
    return Value(Kind.HOST_VALUE, refs=modes)
