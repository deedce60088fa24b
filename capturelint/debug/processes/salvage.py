"""The report of a run that could not be brought to its end: what was found until then, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from capturelint.debug.culprits import culprits_of
from capturelint.debug.outcome import Outcome, decided
from capturelint.debug.search import Found, How
from capturelint.verdict import Culprit, ModuleVerdict, Report, Verdict, worst

_LINES = 20  # of what was printed last
_WIDTH = 160  # characters of each


def salvaged(
    case: str,
    known: Mapping[str, Outcome],
    *,
    why: str,
    printed: str = "",
    backend: str,
    environment: Mapping[str, str],
) -> Report:
    """Return a report of the outcomes `known` by step. `printed`: what user code wrote last.

    Its verdict is the worst that was found, and `UNDECIDED` at best.
    """
    judged = {
        step.partition(" ")[2]: outcome
        for step, outcome in known.items()
        if step.partition(" ")[0] == "judge"
    }
    for path, alone in judged.items():
        together = known.get(f"together {path}".strip())
        judged[path] = alone if together is None else decided(together, alone)
    judged.update(_leaking(known, judged))
    root = judged.pop("", Outcome(Verdict.UNDECIDED, why=why))
    modules = [ModuleVerdict("", "", root.verdict, 0, root.why)]
    modules += [ModuleVerdict(path, "", one.verdict, 0, one.why) for path, one in judged.items()]
    return Report(
        case=case,
        backend=backend,
        verdict=worst([Verdict.UNDECIDED, *(module.verdict for module in modules)]),
        modules=tuple(modules),
        culprits=tuple(_culprits({"": root, **judged})),
        notes=(f"the search did not come to its end: {why}", *_shown(printed)),
        environment=environment,
    )


def _leaking(known: Mapping[str, Outcome], judged: Mapping[str, Outcome]) -> dict[str, Outcome]:
    """Return by module what pad rows were seen to move, where nothing worse was found."""
    steps = ((step.split(" "), outcome) for step, outcome in known.items())
    leaks = {
        words[1]: outcome
        for words, outcome in steps
        if words[0] == "pad" and outcome.verdict is Verdict.PADS
    }
    best = Outcome(Verdict.NOT_CALLED)
    return {
        path: leak
        for path, leak in leaks.items()
        if leak.verdict.rank < judged.get(path, best).verdict.rank
    }


def _culprits(judged: Mapping[str, Outcome]) -> Iterator[Culprit]:
    """Give what is to blame in the deepest modules that fail: what is above them may be innocent."""
    failing = [path for path, outcome in judged.items() if outcome.verdict.is_failure]
    for path in failing:
        if not any(_is_below(other, path) for other in failing):
            outcome = judged[path]
            found = Found(path, outcome.verdict, How.WHOLE)
            yield from culprits_of(found, outcome, (), "", blamed=())


def _is_below(path: str, above: str) -> bool:
    return path != above and (above == "" or path.startswith(f"{above}."))


def _shown(printed: str) -> tuple[str, ...]:
    lines = [line[:_WIDTH] for line in printed.splitlines()[-_LINES:]]
    if not lines:
        return ()
    return ("\n  ".join(("what it printed last:", *lines)),)
