"""Whether graphs compute what eager does: the verdict on a capture, and a runner's own results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from capturelint.debug.attempts.attempt import Tally, attempt
from capturelint.debug.attempts.compare import Difference, Tolerance, difference, floor
from capturelint.debug.attempts.part import Call
from capturelint.debug.backend import Backend
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import summary
from capturelint.debug.instance import Current, modes_of
from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings
from capturelint.debug.trees.trees import copied
from capturelint.debug.warmup import CannotRunError, Warm, warmed_up
from capturelint.errors import CapturelintError, shown_path
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.runner import GraphRunner
from capturelint.verdict import Verdict

_NEXT = "`capturelint bisect` names the line"


def warm_of(case: Case, backend: Backend, settings: Settings) -> Warm:
    """Return a case of one size, warmed up. Raises `CaseError` if it does not run eagerly."""
    current = Current(lambda: case, backend, settings)
    try:
        return warmed_up(current, lambda: case, backend, settings, Tally())
    except CannotRunError as error:
        raise RunnerError(f"{error}; bench needs a device that runs it") from error


def wrong_graph(warm: Warm, names: Sequence[str], backend: Backend, settings: Settings) -> str:
    """Return why whole graphs of these callables are no choice, or "" if their replays are right."""
    for name in names:
        try:
            problem = told(_outcome(warm, name, backend, settings))
        except CapturelintError:
            raise
        except Exception as error:  # noqa: BLE001 - odd values may break what handles all others
            problem = f"undecided: it could not be judged: {summary(error)}"
        finally:
            warm.instance.state.restore(warm.start)
        if problem:
            return f"{name}: {problem}" if name else problem
    return ""


def _outcome(warm: Warm, name: str, backend: Backend, settings: Settings) -> Outcome:
    instance = warm.instance
    instance.state.restore(warm.start)
    with modes_of(instance.case, settings):
        return attempt(
            instance.parts[name],
            backend=backend,
            state=instance.state,
            settings=replace(settings, warmup=1),
            prepare=instance.prepare,
            inputs=warm.inputs[name],
            fresh=warm.fresh,
        )


def told(outcome: Outcome) -> str:
    """Return in words why an outcome is no choice, or "" if it is one."""
    if outcome.verdict is Verdict.UNDECIDED:
        return f"undecided: {outcome.why}"
    if not outcome.verdict.is_failure:
        return ""
    at = "".join(f" at {shown_path(one.path)}:{one.line}" for one in outcome.places[:1])
    return f"{outcome.verdict.value}{at}; {_NEXT}"


def wrong_results(
    warm: Warm, name: str, runner: GraphRunner, settings: Settings, *, steps: int
) -> str:
    """Return how what a runner returns differs from eager, beyond what two eager runs do, or ""."""
    instance = warm.instance
    part = instance.parts[name]
    run = runner.case.named[name]

    def result(step: int, call: Callable[[Call], object]) -> object:
        instance.state.restore(warm.start)
        own = part.steps[step][0].copied()
        if instance.prepare is not None and call is not replayed:
            instance.prepare(step)
        with modes_of(instance.case, settings):
            return copied(call(own))

    def eager(call: Call) -> object:
        return call.of(run)

    def replayed(call: Call) -> object:
        return runner.call(name, *call.args, **call.kwargs)

    for step in range(min(steps, len(part.steps))):
        runner.step = step
        expected = result(step, eager)
        noise = floor(expected, result(step, eager))
        found = difference(
            expected, result(step, replayed), Tolerance(settings.rtol, settings.atol, noise)
        )
        if found is not None:
            instance.state.restore(warm.start)
            return f"stale-on-replay: {_differs(found)}; {_NEXT}"
    instance.state.restore(warm.start)
    return ""


def _differs(found: Difference) -> str:
    what = f"`{found.path}`" if found.path else "the result"
    if found.largest is None:
        return f"{what} is {found.got}, in eager {found.expected}"
    return f"{what} differs from eager by up to {found.largest:.3g}"
