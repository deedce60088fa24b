"""What blocks of statements do to the names in scope, arm by arm."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from capturelint.kind import HOST, UNKNOWN
from capturelint.lint.values import fills, modes, once, truth, turns
from capturelint.lint.values.arms import NEITHER, note_decision, run_arms
from capturelint.lint.values.asides import is_rest_aside, set_aside
from capturelint.lint.values.binding import bind
from capturelint.lint.values.frame import Frame, chain_text, joined_envs
from capturelint.lint.values.join import iterated
from capturelint.lint.values.narrowing import narrowed
from capturelint.lint.values.regional import captures_when_entered
from capturelint.lint.values.simple import SIMPLE
from capturelint.rule import Trait

# How often the body of a loop is run, by how many loops it stands in: as often, in each of n loops
# inside one another, is that to the power of n.
_MOST_PASSES = (3, 3, 3, 2, 2, 2)


def run_block(frame: Frame, body: Sequence[ast.stmt]) -> bool:
    """Run statements in order; return whether control comes out at the end."""
    for position, node in enumerate(body):
        if not _run(frame, node) or modes.is_over(frame.env):
            return False
        if not isinstance(node, ast.If) or not frame.may_be_live:
            continue
        rest = body[position + 1 :]
        is_memo = once.is_memo_return(node, rest, frame.origins, frame.parameters)
        if is_memo or is_rest_aside(frame, node):
            # What follows fills a cache that later calls find filled, or waits for its turn.
            with frame.dormant():
                return run_block(frame, rest)
    return True


def _run(frame: Frame, node: ast.stmt) -> bool:
    handler = _HANDLERS.get(type(node))
    if handler is None:
        return True
    if frame.loop_line and node.lineno == frame.loop_line and not frame.captured:
        with frame.capturing():
            return handler(frame, node)
    return handler(frame, node)


def _if(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.If), "dispatched by type"
    certain = truth.test(frame, node.test)
    if certain is None:
        note_decision(frame, node, node.test)
    if not frame.may_be_live:
        return run_arms(frame, node, run_block, certain=certain, dormant=NEITHER)
    is_first = once.is_first_call_only(
        node, lambda name: _stored_by(frame, name), frame.origins, frame.parameters
    )
    aside = set_aside(frame, node, certain=certain)
    dormant = {
        True: is_first or True in aside,
        False: fills.is_filled_by_else(node, frame.origins) or False in aside,
    }
    return run_arms(frame, node, run_block, certain=certain, dormant=dormant)


def _stored_by(frame: Frame, method: str) -> tuple[str, ...]:
    """Return the attributes that a method of the class being evaluated sets."""
    owner = frame.function.owner if frame.function is not None else -1
    if owner < 0:
        return ()
    project = frame.analysis.project
    index = project.method(owner, method)
    return project.functions[index].facts.stores if index >= 0 else ()


def _loop(frame: Frame, node: ast.stmt, before_each: Callable[[], None]) -> None:
    """Run a loop body until the names settle."""
    body: list[ast.stmt] = getattr(node, "body", [])
    arms, outer, first = frame.kept.arms, frame.loops, None
    frame.loops += 1
    for _ in range(_MOST_PASSES[outer] if outer < len(_MOST_PASSES) else 1):
        flags, start = dict(frame.flags), dict(frame.env)
        before_each()
        run_block(frame, body)
        frame.kept.arms = arms
        frame.keep_flags(flags)
        frame.env = joined_envs(start, frame.env)
        if frame.env == start:
            break
        first = turns.host_tensors(frame, start) if first is None else first
    frame.loops = outer
    turns.restore(frame, first or {})


def _for(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, (ast.For, ast.AsyncFor)), "dispatched by type"
    source = frame.evaluate(node.iter)
    modes.note_use(frame, node.iter)
    if source.is_device_tensor:
        frame.note(Trait.TENSOR_ITERATION)
    if isinstance(node.iter, (ast.Tuple, ast.List)) and not node.iter.elts:
        return run_block(frame, node.orelse)
    element = iterated(source)
    once.note_origin(frame, node.target, node.iter)
    if source.sources:
        element = element._replace(sources=source.sources)
        if frame.live:
            frame.decisions.append((source.sources, node))
    _loop(frame, node, lambda: bind(frame, node.target, element))
    run_block(frame, node.orelse)
    return True


def _while(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.While), "dispatched by type"
    outcome = truth.test(frame, node.test)
    if outcome is False:
        return run_block(frame, node.orelse)

    def again() -> None:
        truth.test(frame, node.test)
        note_decision(frame, node, node.test)
        frame.env = dict(narrowed(frame, node.test, outcome=True))

    _loop(frame, node, again)
    run_block(frame, node.orelse)
    return True


def _context_arms(expression: ast.expr) -> list[ast.expr]:
    """Return both arms of `a() if test else b()`, else the expression itself."""
    if isinstance(expression, ast.IfExp):
        return [*_context_arms(expression.body), *_context_arms(expression.orelse)]
    return [expression]


def _with(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, (ast.With, ast.AsyncWith)), "dispatched by type"
    escapes = captures = False
    for item in node.items:
        value = frame.evaluate(item.context_expr)
        for expression in _context_arms(item.context_expr):
            called = expression.func if isinstance(expression, ast.Call) else expression
            with frame.dormant():
                name = frame.evaluate(called).name or chain_text(called)
                arm = frame.evaluate(expression)
            escapes = escapes or frame.analysis.surroundings.is_escape_context(name)
            captures = captures or captures_when_entered(frame, arm, node)
        if item.optional_vars is not None:
            bind(frame, item.optional_vars, value)
    inside = frame.in_region
    frame.in_region = inside or captures
    falls_through = _entered(frame, node.body, escapes=escapes, captures=captures)
    frame.in_region = inside
    return falls_through


def _entered(frame: Frame, body: Sequence[ast.stmt], *, escapes: bool, captures: bool) -> bool:
    """Run the body of a `with`, whose contexts keep it out of a capture or capture it."""
    # What is captured around here is looked at as such.
    if escapes or (captures and frame.analysis.surroundings.around):
        with frame.dormant():
            return run_block(frame, body)
    if captures and not frame.captured and frame.analysis.is_site(frame):
        frame.analysis.note_region(frame.function)
        with frame.capturing():
            return run_block(frame, body)
    live, captured = frame.live, frame.captured
    falls_through = run_block(frame, body)
    # A capture that was begun inside, by an `ExitStack`, ends with the block.
    frame.live, frame.captured = live, captured
    return falls_through


def _try(frame: Frame, node: ast.stmt) -> bool:
    handlers: list[ast.ExceptHandler] = getattr(node, "handlers", [])
    body: list[ast.stmt] = getattr(node, "body", [])
    before, flags, written = dict(frame.env), dict(frame.flags), frame.kept.written
    returns = len(frame.returns)
    falls_through = run_block(frame, body) and run_block(frame, getattr(node, "orelse", []))
    ends = [frame.env] if falls_through else []
    returns = len(frame.returns) if len(frame.returns) > returns else -1
    done = frame.kept.written
    for handler in handlers:
        frame.kept.written = written
        frame.env = joined_envs(before, frame.env)
        if handler.name:
            frame.env[handler.name] = HOST
        # A handler runs when something was raised, and then the capture is lost anyway.
        with frame.dormant():
            if run_block(frame, handler.body):
                ends.append(frame.env)
    frame.kept.written = done
    frame.keep_flags(flags)
    if returns >= 0:
        # What the body returns is what capture gets.
        del frame.returns[returns:]
    if ends:
        frame.env = ends[0]
        for end in ends[1:]:
            frame.env = joined_envs(frame.env, end)
    finished = run_block(frame, getattr(node, "finalbody", []))
    return bool(ends) and finished


def _match(frame: Frame, node: ast.stmt) -> bool:
    assert isinstance(node, ast.Match), "dispatched by type"
    subject = frame.evaluate(node.subject)
    if subject.is_device_tensor:
        frame.note(Trait.TENSOR_TEST)
    before = frame.env
    ends = [before]
    for case in node.cases:
        frame.env = dict(before)
        for name in _captured_names(case.pattern):
            frame.env[name] = UNKNOWN
        if case.guard is not None:
            truth.test(frame, case.guard)
        if run_block(frame, case.body):
            ends.append(frame.env)
    frame.env = ends[0]
    for end in ends[1:]:
        frame.env = joined_envs(frame.env, end)
    return True


def _captured_names(pattern: ast.pattern) -> list[str]:
    return [
        node.name
        for node in ast.walk(pattern)
        if isinstance(node, (ast.MatchAs, ast.MatchStar)) and node.name
    ]


_HANDLERS: dict[type, Callable[[Frame, ast.stmt], bool]] = {
    **SIMPLE,
    ast.If: _if,
    ast.For: _for,
    ast.AsyncFor: _for,
    ast.While: _while,
    ast.With: _with,
    ast.AsyncWith: _with,
    ast.Try: _try,
    ast.Match: _match,
    **({ast.TryStar: _try} if hasattr(ast, "TryStar") else {}),
}
