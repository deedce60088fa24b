"""What driver code around a capture does, step by step: the subject of rules about capture sites.

A capture site is a function, the methods of a class or the code of a script that captures a graph:
it makes inputs, warms up, captures, and often replays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from capturelint.finding import Span
from capturelint.kind import UNKNOWN, Value


class Deed(Enum):
    """What one step does to the name, attribute or callable that it is about."""

    CALL = "calls it"
    READ = "reads it"
    BIND = "gives the name a new value"
    WRITE = "stores into an item of it"
    REPLAY = "replays this graph"
    GRAPHED = "gives it to make_graphed_callables"
    LEAVE = "returns from the function"


class Inside(Enum):
    """What an enclosing block is."""

    FUNCTION = "a function, or a method of the class"
    BRANCH = "an arm of `if`, `match` or `try`"
    LOOP = "a loop"
    CONTEXT = "a `with` statement"
    ATTEMPT = "the body of a `try` of which a handler goes on"
    REGION = "a captured region"


@dataclass(frozen=True, slots=True)
class Block:
    """One block around a step. Arms of one branch share `number` and differ in `arm`.

    `name`: the dotted name of what a `with` statement enters, such as `torch.autocast`; of a
    FUNCTION its own. `about`: the first argument of that, such as the stream; of a REGION its graph.
    `keywords`: keyword arguments that are constants; `is_open`: there are others.
    """

    inside: Inside
    number: int
    arm: int = 0
    name: str = ""
    about: str = ""
    keywords: tuple[tuple[str, object], ...] = ()
    is_open: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One thing that driver code does, in the order of the source.

    `about` is the text of a name or attribute: `x`, `self.graph`, `self.graphs[]` for an item.
    `name`: the dotted name of what is called, where that is known. `how`: of a READ what is done
    with it: `operand`, `test`, `text`, `stored`, `put` (into a container),
    `copied` (into a tensor), `returned`, `method:item`, `argument:f`, or ``.
    `names`: what a CALL is given, what a BIND or WRITE is made of, of an `alias` its own text last. `value`: what is known of the callee, the
    bound value or the value read.
    """

    deed: Deed
    about: str
    span: Span
    blocks: tuple[Block, ...]
    name: str = ""
    how: str = ""
    names: tuple[str, ...] = ()
    keywords: tuple[tuple[str, object], ...] = ()
    value: Value = UNKNOWN

    @property
    def region(self) -> Block | None:
        """The captured region that the step is part of, None outside."""
        return next((block for block in self.blocks if block.inside is Inside.REGION), None)

    @property
    def function(self) -> Block:
        """The function that the step is part of, the innermost one."""
        return next(block for block in reversed(self.blocks) if block.inside is Inside.FUNCTION)

    def within(self, inside: Inside) -> Iterator[Block]:
        """Yield the enclosing blocks of one sort, outermost first."""
        return (block for block in self.blocks if block.inside is inside)


@dataclass(frozen=True, slots=True)
class Region:
    """A captured region. `first` and `last` are places in `Site.steps`; `last` is not part of it.

    `graph` is the text of what it is captured into, "" where that cannot be told. `keywords` are
    those of `torch.cuda.graph` or `capture_begin`. `stream` is the text of the stream that
    `torch.cuda.graph` is given, "" where it is given none, `...` where that is not known.
    """

    block: Block
    graph: str
    span: Span
    first: int
    last: int
    blocks: tuple[Block, ...]
    keywords: tuple[tuple[str, object], ...]
    stream: str = ""


@dataclass(frozen=True, slots=True)
class Site:
    """The steps of one capture site, in the order of the source, and its captured regions."""

    name: str
    steps: tuple[Step, ...]
    regions: tuple[Region, ...]

    def inputs(self, region: Region) -> dict[str, Step]:
        """Return what a region reads before it binds it, with the first step that does."""
        bound: set[str] = set()
        found: dict[str, Step] = {}
        for step in self.steps[region.first : region.last]:
            if step.deed is Deed.BIND:
                bound.add(step.about)
            elif step.deed is Deed.READ and root_of(step.about) not in bound:
                found.setdefault(step.about, step)
        return found

    def outputs(self, region: Region) -> dict[str, Step]:
        """Return the names and attributes that a region binds, with the last step that does."""
        return {
            step.about: step
            for step in self.steps[region.first : region.last]
            if step.deed is Deed.BIND
        }

    def holders(self, region: Region) -> frozenset[str]:
        """Return the texts by which the graph of a region is known: its name, and where it is kept.

        `self.graphs[]` only where all that is put there is the graph of this region.
        """
        kept, others = {region.graph}, set()
        is_own = "." in region.graph
        home = next(block for block in region.blocks if block.inside is Inside.FUNCTION)
        for place, step in enumerate(self.steps):
            if step.deed not in (Deed.BIND, Deed.WRITE):
                continue
            is_home = step.function == home and place >= region.last
            about = f"{step.about}[]" if step.deed is Deed.WRITE else step.about
            if is_home and about == region.graph:
                # The name, from here on, is that of another.
                is_own, home = False, Block(Inside.FUNCTION, -1)
            elif step.how == "alias" and step.names[-1] == region.graph and (is_own or is_home):
                kept.add(about)
            elif step.how or step.deed is Deed.WRITE:
                others.add(about)
        return frozenset(kept - others) | {region.graph}


def root_of(about: str) -> str:
    """Return the name or attribute of `self` that a longer text such as `out.logits[]` starts from."""
    parts = about.split(".")
    text = ".".join(parts[:2]) if parts[0] == "self" else parts[0]
    return text.partition("[")[0]


def excludes(one: tuple[Block, ...], other: tuple[Block, ...]) -> bool:
    """Return whether two places are in different arms of one branch, or in different functions."""
    for left, right in zip(one, other, strict=False):
        if left.number != right.number:
            return left.inside is Inside.FUNCTION and right.inside is Inside.FUNCTION
        if left.arm != right.arm:
            return True
    return False


def always_after(later: tuple[Block, ...], earlier: tuple[Block, ...]) -> bool:
    """Return whether whoever comes to `later`, further down, has passed `earlier`.

    Contexts, attempts and regions are passed for sure; arms and loops of `earlier` must be around `later` too.
    """
    passed = (Inside.CONTEXT, Inside.ATTEMPT, Inside.REGION)
    needed = [b for b in earlier if b.inside not in passed]
    around = {(b.number, b.arm) for b in later}
    return all((block.number, block.arm) in around for block in needed)
