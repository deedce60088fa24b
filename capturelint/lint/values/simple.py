"""What each simple statement does to the names in scope."""

from __future__ import annotations

import ast
from collections.abc import Callable

from capturelint.kind import HOST, Kind, Value
from capturelint.lint.values import changing, counts, modes, once, truth
from capturelint.lint.values.binding import bind, bind_in_place
from capturelint.lint.values.changing import written_on_host
from capturelint.lint.values.expressions import annotated
from capturelint.lint.values.frame import Flag, Frame, chain_text
from capturelint.lint.values.join import join, joined_sources
from capturelint.lint.values.lookup import symbol_value
from capturelint.lint.values.narrowing import narrowed
from capturelint.lint.values.operators import combined
from capturelint.names import imported_names
from capturelint.rule import Trait

# A flag made of flags doubles in length with each that names the one before twice.
_LONGEST_CONDITION = 200


def _expression(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Expr), "dispatched by type"
    frame.evaluate(node.value)
    return not _never_returns(node.value)


def _never_returns(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and chain_text(node.func) in ("sys.exit", "os._exit", "exit")


def _assign(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Assign), "dispatched by type"
    value = frame.evaluate(node.value)
    if counts.is_next_of_itself(frame, node.targets, node.value):
        value = counts.counted(frame, node.targets[0], value)
    for target in node.targets:
        bind(frame, target, value, node.value)
        if isinstance(target, ast.Subscript) and frame.function is not None:
            counts.set_item(frame, target, value)
    first = node.targets[0]
    if isinstance(first, ast.Name):
        if len(node.targets) == 1:
            _note_flag(frame, first.id, node.value)
        source = once.origin(node.value)
        if source:
            frame.origins[first.id] = source
        elif not isinstance(node.value, ast.Constant):
            # A name that is made anew keeps its origin only until something else is put in it.
            frame.origins.pop(first.id, None)
    return True


def _note_flag(frame: Frame, name: str, value: ast.expr) -> None:
    """Remember the condition behind a flag, until what it speaks of is bound anew."""
    is_condition = isinstance(value, (ast.Compare, ast.BoolOp)) or (
        isinstance(value, ast.Call) and chain_text(value.func) in ("isinstance", "torch.is_tensor")
    )
    if not is_condition and not modes.is_asked(frame, value):
        return
    found = [text for text in map(chain_text, ast.walk(value)) if text]
    length = sum(frame.flags[text].length if text in frame.flags else 1 for text in found)
    if name not in found and length <= _LONGEST_CONDITION:
        frame.flags[name] = Flag(value, frozenset(found), length)


def _annotated_assign(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.AnnAssign), "dispatched by type"
    said = annotated(frame, node.annotation)
    if node.value is None:
        if isinstance(node.target, ast.Attribute):
            bind(frame, node.target, said)
        return True
    value = frame.evaluate(node.value)
    if value.is_unknown:
        value = said
    elif value.is_none and said.kind is not Kind.UNKNOWN:
        value = join(said, value) if isinstance(node.target, ast.Attribute) else value
    elif value.items == () and said.element is not None:
        value = said
    bind(frame, node.target, value, node.value)
    return True


def _augmented_assign(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.AugAssign), "dispatched by type"
    left = frame.evaluate(node.target)
    right = frame.evaluate(node.value)
    if left.is_unknown and counts.is_global_number(frame, node.target):
        left = HOST
    value = combined(frame, left, node.op, right)
    if left.is_tensor and value.is_tensor:
        value = value._replace(kind=left.kind, dtype=left.dtype or value.dtype, rank=left.rank)
    if isinstance(node.target, ast.Attribute) and value.kind is Kind.HOST_TENSOR:
        value = value._replace(varies=True)
    if left.sources or right.sources:
        value = counts.combined_sources(frame, left, right, value)
    if counts.is_lasting(frame, node.target) and right.is_host:
        value = counts.counted(frame, node.target, value)
    if left.kind is Kind.HOST_TENSOR and left.pinned:
        value = value._replace(pinned=left.pinned)
    if isinstance(node.target, ast.Subscript):
        # The mask is read and written; that the value is a number does not help.
        frame.note(Trait.TENSOR_SUBSCRIPT)
        if right.is_host and not left.is_tensor:
            counts.counted_item(frame, node.target, left, value)
    else:
        bind_in_place(frame, node.target, value)
        written_on_host(frame, node.target, node.target, value)
    return True


def _return(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Return), "dispatched by type"
    value = (
        Value(Kind.HOST_VALUE, constant=(None,))
        if node.value is None
        else frame.evaluate(node.value)
    )
    if frame.changing and not value.is_tensor:
        frame.kept.returned = joined_sources(frame.kept.returned, changing.sources_of(value))
    frame.returns.append(value)
    return False


def _raise(_frame: Frame, _node: ast.stmt) -> bool:
    # The message is only made when the error is raised, and then the capture is lost anyway.
    return False


def _assert(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Assert), "dispatched by type"
    outcome = truth.test(frame, node.test)
    # Its message is only made when it fails, and then the capture is lost anyway.
    frame.env = dict(narrowed(frame, node.test, outcome=True))
    return not (outcome is False and isinstance(node.test, ast.Call))


def _leave(_frame: Frame, _node: ast.stmt) -> bool:
    return False


def _delete(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Delete), "dispatched by type"
    for target in node.targets:
        frame.env.pop(chain_text(target), None)
    return True


def _define(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)), "dispatched by type"
    value = frame.analysis.entrance.defined(frame, node)
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            frame.evaluate(default)
    frame.env[node.name] = value
    return True


def _define_class(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.ClassDef), "dispatched by type"
    frame.env[node.name] = frame.analysis.entrance.defined(frame, node)
    return True


def _global(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Global), "dispatched by type"
    frame.globals.update(node.names)
    return True


def _import(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, (ast.Import, ast.ImportFrom)), "dispatched by type"
    file, project = frame.file, frame.analysis.project
    for name, (module, member) in imported_names(
        node, here=project.homes.plain_name(file), is_package=file.is_package
    ):
        if name != "*":
            frame.env[name] = symbol_value(frame, project.imported(file, module, member))
    return True


SIMPLE: dict[type, Callable[[Frame, ast.stmt], bool]] = {
    ast.Expr: _expression,
    ast.Assign: _assign,
    ast.AnnAssign: _annotated_assign,
    ast.AugAssign: _augmented_assign,
    ast.Return: _return,
    ast.Raise: _raise,
    ast.Assert: _assert,
    ast.Break: _leave,
    ast.Continue: _leave,
    ast.Delete: _delete,
    ast.FunctionDef: _define,
    ast.AsyncFunctionDef: _define,
    ast.ClassDef: _define_class,
    ast.Global: _global,
    ast.Import: _import,
    ast.ImportFrom: _import,
}
