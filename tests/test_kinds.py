"""Every expression that a rule may ask about in evaluated code has a kind."""

from __future__ import annotations

import bisect
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import libcst as cst
import pytest

from capturelint.bundle import bundled
from capturelint.config import Config, Scope
from capturelint.finding import Span
from capturelint.kind import DEVICE, UNKNOWN
from capturelint.lint.discovery import discover
from capturelint.lint.linked import Linked
from capturelint.lint.linking import link
from capturelint.lint.subjects import UnparsedError, in_file, parsed
from capturelint.names import MODULE_BODY, FunctionFacts
from capturelint.rule import Rule, Subject
from capturelint.source import line_shift

_LIBRARY = Path(sysconfig.get_path("stdlib"))
_MODULES = "argparse dataclasses difflib fractions statistics textwrap trace"
_TREES = {
    "fixtures": [bundled("fixtures")],
    "library": [_LIBRARY / f"{name}.py" for name in _MODULES.split()],
}

# The parts of a node that a rule may ask about. Statements and expressions that are not here have
# all their children asked about.
_PARTS: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.Attribute: ("value",),
    cst.Arg: ("value",),
    cst.NamedExpr: ("value",),
    cst.Assert: ("test",),
    cst.AnnAssign: ("target", "value"),
    cst.ExceptHandler: ("body",),
    cst.ExceptStarHandler: ("body",),
    cst.MatchCase: ("guard", "body"),
    # What is evaluated elsewhere, or not at all.
    cst.Raise: (),
    cst.Del: (),
    cst.Global: (),
    cst.Nonlocal: (),
    cst.Import: (),
    cst.ImportFrom: (),
    cst.FunctionDef: (),
    cst.ClassDef: (),
}
# Parts that do not run whenever the whole does.
_UNSURE: dict[type[cst.CSTNode], tuple[str, ...]] = {
    cst.IfExp: ("body", "orelse"),
    cst.BooleanOperation: ("right",),
    cst.Lambda: ("params", "body"),
    cst.ListComp: ("elt",),
    cst.SetComp: ("elt",),
    cst.GeneratorExp: ("elt",),
    cst.DictComp: ("key", "value"),
    cst.CompFor: ("iter", "ifs", "inner_for_in"),
}
_TARGETS: dict[type[cst.CSTNode], str] = {
    cst.AssignTarget: "target",
    cst.For: "target",
    cst.CompFor: "target",
    cst.AsName: "name",
}


@pytest.mark.slow
@pytest.mark.parametrize("tree", _TREES)
def test_every_expression_in_evaluated_code_has_a_kind(tree: str) -> None:
    seen = 0
    missing: list[str] = []
    for rule, function in _evaluated(_everything(_TREES[tree])):
        for node in _askable(rule, function):
            seen += 1
            if rule.value(node) is UNKNOWN:
                missing.append(_shown(rule, node))

    assert seen > 5000
    assert missing == []


@pytest.mark.parametrize("expression", ["(x, x)", "(row for row in x)", "list(row for row in x)"])
def test_an_expression_within_its_own_parentheses_has_a_kind(
    expression: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.py"
    path.write_text(f"def step(x):\n    return {expression}\n", encoding="utf-8")
    [(rule, function)] = _evaluated(_everything([path]))

    missing = [_shown(rule, n) for n in _askable(rule, function) if rule.value(n) is UNKNOWN]

    assert missing == []


def _everything(paths: list[Path]) -> Linked:
    found, problems = discover(paths, exclude=(), root=paths[0].parent)
    config = Config(root=paths[0].parent, scope=Scope.ALL, preset=(), jobs=1)
    return link(found, problems, config, lambda _n, _t: True, stdin=None, progress=None)


def _evaluated(linked: Linked) -> Iterator[tuple[Rule, cst.FunctionDef]]:
    """Yield each evaluated function with a rule, to which all that was evaluated is a tensor."""
    for state in linked.states():
        function = linked.project.functions[state.index]
        if function.facts.qualname == MODULE_BODY:
            continue
        source = linked.reader.source(function.file.path)
        shift = line_shift(function.facts)
        segment = source.segment(function.facts)
        if ".capture_begin(" in segment:  # its statements are evaluated up to where capture ends
            continue
        try:
            tree, positions = parsed(segment, shift)
        except UnparsedError:
            continue
        known = dict.fromkeys(in_file(state.values, source, shift), DEVICE)
        name = f"{function.file.path}: {function.facts.qualname}"
        yield Rule(Subject(name, positions, known)), _function(tree, function.facts)


def _function(tree: cst.Module, facts: FunctionFacts) -> cst.FunctionDef:
    node: cst.CSTNode = tree.body[0]
    if facts.column:
        assert isinstance(node, cst.If), "an indented function stands below `if 1:`"
        node = node.body.body[0]
    assert isinstance(node, cst.FunctionDef), "the segment of a function holds it alone"
    return node


def _askable(rule: Rule, function: cst.FunctionDef) -> Iterator[cst.CSTNode]:
    """Yield the expressions of a function that were evaluated, or belong to one that was.

    What need not run when the whole does counts only if something in it was evaluated.
    """
    spans = sorted(rule.subject.values)
    todo: list[tuple[cst.CSTNode, bool]] = [(function.body, False)]
    while todo:
        node, is_sure = todo.pop()
        if isinstance(node, cst.BaseExpression):
            if not is_sure and not _holds(spans, rule.subject.positions[node]):
                continue
            yield node
            is_sure = True
        todo += _parts(node, is_sure)


def _parts(node: cst.CSTNode, is_sure: bool) -> Iterator[tuple[cst.CSTNode, bool]]:
    """Yield the parts of a node, each with whether it runs for sure when the node does."""
    if isinstance(node, cst.ConcatenatedString):
        yield from ((part, is_sure) for part in _in_string(node))
        return
    target = getattr(node, _TARGETS[type(node)]) if type(node) in _TARGETS else None
    unsure = list(map(node.__getattribute__, _UNSURE.get(type(node), ())))
    wanted = [getattr(node, name) for name in _PARTS.get(type(node), ())]
    for part in wanted if type(node) in _PARTS else node.children:
        if part is None:
            continue
        if target is not None and part is target:
            for inner in _in_target(part):
                yield inner, False
        elif not _is_super(part):
            yield part, is_sure and not any(part is one for one in unsure)


def _in_string(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what is formatted in the pieces of one string, which has a value only as a whole."""
    if isinstance(node, cst.ConcatenatedString):
        yield from _in_string(node.left)
        yield from _in_string(node.right)
    elif isinstance(node, cst.FormattedString):
        yield from node.parts


def _in_target(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield what is read when a target is assigned: the owner of an attribute, an index."""
    if isinstance(node, cst.Tuple | cst.List):
        for element in node.elements:
            yield from _in_target(element.value)
    elif isinstance(node, cst.Attribute):
        yield node.value
    elif isinstance(node, cst.Subscript):
        yield node.value
        yield from node.slice


def _holds(spans: list[Span], place: Span) -> bool:
    """Return whether one of the sorted `spans` lies in `place`."""
    end = (place.end_line, place.end_column)
    first = Span(place.line, place.column, 0, 0)
    for position in range(bisect.bisect_left(spans, first), len(spans)):
        known = spans[position]
        if (known.line, known.column) > end:
            return False
        if (known.end_line, known.end_column) <= end:
            return True
    return False


def _is_super(node: cst.CSTNode) -> bool:
    """Return whether a node is `super()` or an attribute of it, which have no value of their own."""
    if isinstance(node, cst.Attribute):
        return _is_super(node.value)
    return isinstance(node, cst.Call) and getattr(node.func, "value", "") == "super"


def _shown(rule: Rule, node: cst.CSTNode) -> str:
    line = rule.subject.positions[node].line
    code = cst.Module([]).code_for_node(node)
    return f"{rule.subject.function}: {line}: {type(node).__name__} `{code}`"
