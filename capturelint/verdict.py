"""What a run showed about a model: verdicts, culprits, hazards and the report that holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from capturelint.execution import Executed
from capturelint.finding import Effect

ROOT = "<root>"  # what reports call the module whose path is ""
# How the note begins that says which modules were judged, where the user named them.
ONLY = "only these modules were judged (--modules): "
# How the reason begins why a module is undecided that no graph could serve.
VARIES = "its arguments vary between calls: "
# How the reason begins why it cannot be told what pad rows do in a module.
OF_PADS = "pad rows: "
# What a process was at that never got to a module.
LOADING = "loading the case"


class Verdict(Enum):
    """What a run showed for one module or for the whole case, worst first."""

    REFUSES = "refuses-capture"
    STALE = "stale-on-replay"
    FAILS_COLD = "fails-cold"
    FAILS_TOGETHER = "fails-together"
    DIFFERS = "differs-when-capturing"
    OVERWRITTEN = "overwritten"
    PADS = "pad-rows-leak"
    WORK_MISSING = "work-missing"
    EMPTY_GRAPH = "empty-graph"
    UNDECIDED = "undecided"
    NONDETERMINISTIC = "nondeterministic"
    ALIASES_INPUT = "aliases-input"
    EQUAL = "replays-equal"
    NOT_CALLED = "not-called"

    @property
    def rank(self) -> int:
        """Return how bad it is: 0 is the worst."""
        return list(Verdict).index(self)

    @property
    def is_failure(self) -> bool:
        """Return whether the module must be mended before it is captured."""
        return self in _FAILURES

    @property
    def exit_code(self) -> int:
        """Return what the command exits with when nothing worse was found."""
        if self.is_failure:
            return 1
        return 4 if self in (Verdict.UNDECIDED, Verdict.NOT_CALLED) else 0


_FAILURES = frozenset(
    {
        Verdict.REFUSES,
        Verdict.STALE,
        Verdict.FAILS_COLD,
        Verdict.FAILS_TOGETHER,
        Verdict.DIFFERS,
        Verdict.OVERWRITTEN,
        Verdict.PADS,
        Verdict.WORK_MISSING,
        Verdict.EMPTY_GRAPH,
    }
)


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of `verdicts`, or `NOT_CALLED` where there is none."""
    return min(verdicts, key=lambda verdict: verdict.rank, default=Verdict.NOT_CALLED)


class Certainty(Enum):
    """How sure it is that a culprit is to blame."""

    SHOWN = "shown"  # captured alone, this line raised or this value was seen frozen
    LIKELY = "likely"  # the line follows from what differs, not from an error at it
    AT_OR_BEFORE = "at or before"  # an earlier error was swallowed: the line only noticed it
    MODULE_ONLY = "module only"  # the module is to blame, no line is known


@dataclass(frozen=True, slots=True)
class Place:
    """One line of the user's code. `path`: absolute. `line`: from 1, or 0 where none is known."""

    path: str
    line: int
    function: str = ""
    source: str = ""

    def __str__(self) -> str:
        """Return `path:line`."""
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class Act:
    """What one expression of a line did.

    `span`: its first line and column, its last line and the column where it ends, as Python tells the
    positions of instructions: lines from 1, columns from 0 in bytes of UTF-8. None before Python 3.11.
    """

    operation: str
    effect: Effect
    span: tuple[int, int, int, int] | None


@dataclass(frozen=True, slots=True)
class Hazard:
    """One line that a capture would stop at or freeze, seen in an eager run as if capturing.

    `module`: path of the innermost module that was running, "" for the root. `operation`: as the
    dispatcher or torch names it. `message`: what CUDA would say. `code`: the rule about the
    operation, or "". `calls`: how often the line did it. `acts`: all that its expressions did.
    """

    place: Place
    module: str
    operation: str
    effect: Effect
    message: str
    code: str = ""
    calls: int = 1
    acts: tuple[Act, ...] = ()


@dataclass(frozen=True, slots=True)
class Frozen:
    """A value that a graph would bake in: it differed between two calls in a row.

    `place`: where it was used. `before`, `after`: the value in each call, as text. `cause`: the
    line that changes it, where that was seen. `name`: what changed, such as `self.step`, or "".
    """

    place: Place
    operation: str
    before: str
    after: str
    cause: Place | None = None
    name: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a verdict rests on. Empty fields were not measured or do not apply.

    `exception`: type and text of the oldest exception. `replay`: the first that differs, from 1.
    `output`: path in what the module returns, such as `[0].logits`. `difference`: largest absolute
    difference; `tolerance`: the bound it passed. `frozen`: the values that were baked in.
    `changes`: state that changed between two calls, in words. `together`: paths of the modules that
    only fail together. `fills`: what pad rows held when real rows moved, such as `NaN`; `rows`: which
    rows they were, in words. `beginning`: how far the run was replayed when it died, in words.
    `counts`: how many kernels an eager call runs and a graph of it holds, in words.
    """

    exception: str = ""
    replay: int | None = None
    output: str = ""
    difference: float | None = None
    tolerance: float | None = None
    dtype: str = ""
    frozen: tuple[Frozen, ...] = ()
    changes: tuple[str, ...] = ()
    together: tuple[str, ...] = ()
    fills: tuple[str, ...] = ()
    rows: str = ""
    beginning: str = ""
    counts: str = ""


@dataclass(frozen=True, slots=True)
class Culprit:
    """The deepest module and the line to blame. `module`: its path, "" for the root."""

    module: str
    cls: str
    place: Place | None
    operation: str
    effect: Effect
    certainty: Certainty
    message: str
    code: str = ""
    evidence: Evidence = field(default_factory=Evidence)

    def __str__(self) -> str:
        """Return it in one line: `path:line: effect in module (Class): message`."""
        where = "" if self.place is None else f"{self.place}: "
        message = f": {self.message.splitlines()[0]}" if self.message else ""
        return f"{where}{self.effect.value} in {self.module or ROOT} ({self.cls}){message}"


@dataclass(frozen=True, slots=True)
class ModuleVerdict:
    """What was found for one module. `calls`: per forward of its root. `why`: for the undecided."""

    path: str
    cls: str
    verdict: Verdict
    calls: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A file with code to write instead, proven by running both. `path`: absolute.

    `digest`: of the bytes that the file had, `text`: what it is to hold. `places`: the lines that
    are mended, as they were. `notes`: what the proof rests on.
    """

    path: str
    digest: str
    text: str
    places: tuple[Place, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """A line to blame that stays as it is, and why."""

    place: Place
    reason: str


@dataclass(frozen=True, slots=True)
class Report:
    """All that one run of bisect found.

    `case`: as the user named it. `verdict`: of the whole case. `modules`: those judged, in order of
    first call, the root first. `hazards`: from the pass made as if capturing. `notes`: what the
    user must know to read it, such as inputs that were held or parts that ran eagerly.
    `environment`: versions and devices by name. `timings`: seconds by step; and counts of
    `attempts` and root `forwards`. `rewrites`, `kept`: what can be written instead, where it was
    asked for, and which lines stay; `suggestions`: what else to write,
    in words and code. `executed`: of what the settings asked to watch; None where no
    run got there.
    """

    case: str
    backend: str
    verdict: Verdict
    modules: tuple[ModuleVerdict, ...] = ()
    culprits: tuple[Culprit, ...] = ()
    hazards: tuple[Hazard, ...] = ()
    notes: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    timings: Mapping[str, float] = field(default_factory=dict)
    rewrites: tuple[Rewrite, ...] = ()
    kept: tuple[Kept, ...] = ()
    executed: Executed | None = None
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the verdict and the notes, and a line for each culprit."""
        notes = (f"note: {note}" for note in self.notes)
        verdict = f"{self.case}: {self.verdict.value} ({self.backend})"
        return "\n".join([verdict, *map(str, self.culprits), *notes])

    @property
    def exit_code(self) -> int:
        """Return what the command exits with: 0, 1 for a failure, 4 when it could not decide."""
        return self.verdict.exit_code
