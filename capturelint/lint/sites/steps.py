"""Driver code read into steps: statements and blocks."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from capturelint.finding import Span
from capturelint.kind import UNKNOWN, Value
from capturelint.lint.sites.places import constant_keywords, is_open, key_of
from capturelint.site import Block, Deed, Inside, Region, Step

Known = Callable[[ast.expr], Value]
Placed = Callable[[ast.AST], Span]
GRAPHS = frozenset({"torch.cuda.graph", "torch.cuda.graphs.graph"})


class Steps:
    """Collects the steps of one site. `known` tells values, `placed` where a node stands."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.regions: list[Region] = []
        self.known: Known = lambda _node: UNKNOWN
        self.named: Callable[[ast.expr], str] = lambda _node: ""
        self.placed: Placed = lambda _node: Span(0, 0, 0, 0)
        self.blocks: tuple[Block, ...] = ()
        # The functions of a script are sites of their own.
        self.is_script = False
        self._numbers = 0

    def number(self) -> int:
        """Return a number that no other block has."""
        self._numbers += 1
        return self._numbers

    @contextmanager
    def block(self, block: Block) -> Iterator[None]:
        """Put a block around the steps that follow."""
        before = self.blocks
        self.blocks = (*before, block)
        try:
            yield
        finally:
            self.blocks = before

    def add(
        self,
        deed: Deed,
        about: str,
        node: ast.AST,
        *,
        name: str = "",
        how: str = "",
        names: tuple[str, ...] = (),
        keywords: tuple[tuple[str, object], ...] = (),
        value: Value = UNKNOWN,
    ) -> None:
        """Note one step."""
        span = self.placed(node)
        self.steps.append(Step(deed, about, span, self.blocks, name, how, names, keywords, value))

    def begin(
        self,
        graph: str,
        node: ast.AST,
        keywords: tuple[tuple[str, object], ...],
        *,
        stream: str = "",
    ) -> None:
        """Begin a captured region that the blocks which follow, or `end`, will end."""
        block = Block(Inside.REGION, self.number(), about=graph)
        place = len(self.steps)
        self.regions.append(
            Region(block, graph, self.placed(node), place, -1, self.blocks, keywords, stream)
        )
        self.blocks = (*self.blocks, block)

    def end(self) -> None:
        """End the region that was begun last and not ended."""
        for number in range(len(self.regions) - 1, -1, -1):
            region = self.regions[number]
            if region.last < 0:
                self.regions[number] = replace(region, last=len(self.steps))
                self.blocks = tuple(b for b in self.blocks if b != region.block)
                return

    def enter(self, item: ast.withitem) -> Block | None:
        """Return the block that an item of a `with` statement makes; None for a captured region."""
        expression = self._chosen(item.context_expr)
        called = expression.func if isinstance(expression, ast.Call) else expression
        # What `self.assertRaises` is, say its base class and its name alone.
        name = self.named(called) or key_of(called)
        first, keywords = "", constant_keywords(expression)
        if isinstance(expression, ast.Call):
            given = [*expression.args[:1], *(k.value for k in expression.keywords[:1])]
            first = key_of(given[0]) or ast.unparse(given[0]) if given else ""
        if name in GRAPHS:
            self.begin(first, expression, keywords, stream=_stream_of(expression))
            return None
        return Block(
            Inside.CONTEXT,
            self.number(),
            name=name,
            about=first,
            keywords=keywords,
            is_open=is_open(expression),
        )

    def _chosen(self, expression: ast.expr) -> ast.expr:
        """Return the arm of `graph(g) if captured else nullcontext()` that captures."""
        if not isinstance(expression, ast.IfExp):
            return expression
        arms = [self._chosen(expression.body), self._chosen(expression.orelse)]
        calls = [arm for arm in arms if isinstance(arm, ast.Call)]
        return next((arm for arm in calls if self.named(arm.func) in GRAPHS), expression)


def _stream_of(expression: ast.expr) -> str:
    """Return the text of the stream that `torch.cuda.graph(graph, pool, stream)` is given, if any."""
    if is_open(expression) or not isinstance(expression, ast.Call):
        return "..."
    given = [*expression.args[2:3], *(k.value for k in expression.keywords if k.arg == "stream")]
    is_none = bool(given) and isinstance(given[0], ast.Constant) and given[0].value is None
    return (key_of(given[0]) or "...") if given and not is_none else ""
