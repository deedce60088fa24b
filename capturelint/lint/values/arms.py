"""The two arms of an `if`, and what is known after them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from capturelint.kind import Value
from capturelint.lint.values import changing, first_calls, modes
from capturelint.lint.values.frame import Frame, joined_envs, raw_span
from capturelint.lint.values.narrowing import narrowed
from capturelint.lint.values.ways import note_ways
from capturelint.rule import Trait

# Which arms only the first call takes, where no arm is live anyway.
NEITHER: Mapping[bool, bool] = {True: False, False: False}


def run_arms(
    frame: Frame,
    node: ast.If,
    run_block: Callable[[Frame, Sequence[ast.stmt]], bool],
    *,
    certain: bool | None,
    dormant: Mapping[bool, bool],
) -> bool:
    """Run the arms that may be taken; return whether control comes out of one.

    `dormant` says, by outcome of the test, which arms only the first call takes.
    """
    before, flags, kept = frame.env, frame.flags, frame.kept
    written, arms = kept.written, kept.arms
    test = (-1 if frame.function is None else frame.function.index, node.lineno)
    ends: list[dict[str, Value]] = []
    flag_ends = []
    written_ends = []
    open_arms = []
    for branch, block in ((True, node.body), (False, node.orelse)):
        if certain is not None and certain is not branch:
            continue
        frame.env, frame.flags = dict(before), dict(flags)
        frame.env = dict(narrowed(frame, node.test, outcome=branch))
        if modes.is_over(frame.env):
            continue
        kept.arms = (*arms, (test, branch))
        kept.written = written | kept.written_where(node.test) if branch else written
        if dormant[branch]:
            with frame.dormant():
                falls_through = run_block(frame, block)
            if branch:
                _note_remembered(frame, node)
        else:
            falls_through = run_block(frame, block)
        if falls_through:
            ends.append(frame.env)
            flag_ends.append(frame.flags)
            written_ends.append(kept.written)
            open_arms.append((test, branch))
            if branch:
                kept.note_written_where(node.test, written)
    # What follows an arm that leaves is as good as the other arm.
    kept.arms = (*arms, *open_arms) if len(open_arms) == 1 else arms
    if not ends:
        frame.env = before
        return False
    frame.flags = flag_ends[0]
    kept.written = frozenset.intersection(*written_ends)
    frame.keep_flags(*flag_ends[1:])
    frame.env = ends[0] if len(ends) == 1 else joined_envs(ends[0], ends[1])
    if len(ends) > 1:
        note_ways(frame, node.test, ends)
    return True


def _note_remembered(frame: Frame, node: ast.If) -> None:
    """Note that a block of the first call has kept what is in an argument."""
    if frame.live:
        for attribute in first_calls.remembered(frame, node.body):
            frame.kept.remembered.append((attribute, raw_span(node.test)))
            frame.note(Trait.FIRST_CALL)


def note_decision(frame: Frame, node: ast.stmt, test: ast.expr) -> None:
    """Remember that a test on values that change from call to call chooses what runs."""
    if frame.changing and frame.live:
        sources = changing.tested(frame, test)
        if sources:
            frame.decisions.append((sources, node))
