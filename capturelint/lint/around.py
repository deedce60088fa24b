"""What runs each step around a captured region: where it starts, and what it reaches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from capturelint.config import Config
from capturelint.lint.interpreter import deep_recursion
from capturelint.lint.patterns import Patterns
from capturelint.lint.project import Project
from capturelint.lint.symbols import Function
from capturelint.lint.values.analysis import Analysis
from capturelint.lint.values.surroundings import Surroundings
from capturelint.lint.values.trees import Trees
from capturelint.preset import Preset
from capturelint.rule import Trait

_CONSTRUCTORS = frozenset({"__init__", "__new__", "__post_init__"})
_REPLAYS = "replays a graph"


@dataclass(frozen=True, slots=True)
class Around:
    """The code around captured regions: its evaluation, and why each start of a step is one."""

    analysis: Analysis
    starts: dict[int, str]


def look_around(
    captured: Analysis,
    presets: Sequence[Preset],
    config: Config,
    trees: Trees,
    wanted: Callable[[set[str], set[Trait]], bool],
) -> Around:
    """Return what runs each step. `captured` is the finished evaluation of what is captured."""
    project = captured.project
    rare = Patterns([p for preset in presets for p in preset.rare], project)
    # What a region calls may be called around it too, with other arguments.
    regions = {index: s.returns for index, s in captured.states.items() if s.is_root}

    def left_out(function: Function) -> bool:
        return function.index in regions or rare.match(function)

    surroundings = Surroundings(project, presets, left_out, around=True)
    accounts = captured.accounts
    if accounts is not None:
        accounts.phase = 1
    analysis = Analysis(project, surroundings, trees, wanted, returns=regions, accounts=accounts)
    starts: dict[int, str] = {}
    for function, why in _starts(project, presets, config):
        starts[function.index] = why
        line = function.facts.replay if why == _REPLAYS else 0
        analysis.add_start(function.index, loop_line=line or 0)
    with deep_recursion():
        analysis.run((), ())
    if accounts is not None:
        # What the rules ask for from here on is of captured code.
        accounts.phase = 0
    return Around(
        analysis, {index: why for index, why in starts.items() if index in analysis.states}
    )


def _starts(
    project: Project, presets: Sequence[Preset], config: Config
) -> Iterator[tuple[Function, str]]:
    """Yield each function that runs each step by itself, with why."""
    named = Patterns(config.step, project)
    known = Patterns([p for preset in presets for p in preset.step], project)
    for function in project.functions:
        if function.facts.name in _CONSTRUCTORS:
            continue
        why = _why(project, function, named, known)
        if why:
            yield function, why


def _why(project: Project, function: Function, named: Patterns, known: Patterns) -> str:
    facts = function.facts
    is_inner = function.parent >= 0
    if facts.marker == "step":
        return "marked `# capturelint: step`"
    if function.owner >= 0:
        owner = project.classes[function.owner]
        if owner.facts.marker == "step" and facts.marker == "":
            return "its class is marked `# capturelint: step`"
        bases = project.outside_bases(function.owner)
        if facts.name == "step" and any(name.startswith("torch.optim.") for name in bases):
            return "step of an optimizer"
    # What is defined inside is reached from it, with what it closes over.
    if not is_inner and named.match_entry(function):
        return "named in `step`"
    if not is_inner and known.match_entry(function):
        return "runs each step, says the preset"
    return "" if facts.replay is None else _REPLAYS
