"""Whether graphs compute what eager does: the verdict on a capture, and a runner's own results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

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
from capturelint.measure.bench.result import UNDECIDED
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
            problem = f"{UNDECIDED}: it could not be judged: {summary(error)}"
        finally:
            warm.instance.state.restore(warm.start)
        if problem:
            return _of(name, problem)
    return ""


def wrong_results(
    warm: Warm, runner: GraphRunner, backend: Backend, settings: Settings, *, steps: int
) -> str:
    """Return why what a runner returns for one of its callables is no choice, or "" if it is right."""
    for name in runner.case.named:
        check = Check(warm, name, backend, settings)
        try:
            problem = check.wrong_results(runner, steps=steps)
        except RunnerError as error:
            problem = f"{UNDECIDED}: {error}"
        if problem:
            return _of(name, problem)
    return ""


def _of(name: str, problem: str) -> str:
    """Return a problem of the callable `name`, still told as undecided if it is."""
    if name and problem.startswith(UNDECIDED):
        return f"{UNDECIDED}: {name}{problem.removeprefix(UNDECIDED)}"
    return f"{name}: {problem}" if name else problem


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
        return f"{UNDECIDED}: {outcome.why}"
    if not outcome.verdict.is_failure:
        return ""
    at = "".join(f" at {shown_path(one.path)}:{one.line}" for one in outcome.places[:1])
    pieces = ", `--eager MODULE` measures what is around its module"
    return f"{outcome.verdict.value}{at}; {_NEXT}{pieces if outcome.verdict is Verdict.REFUSES else ''}"


@dataclass(frozen=True, slots=True)
class Check:
    """Compares what a runner returns for the callable `name` with eager, on the same state and seed."""

    warm: Warm
    name: str
    backend: Backend
    settings: Settings

    def wrong_results(self, runner: GraphRunner, *, steps: int) -> str:
        """Return how results differ from eager, beyond what two eager runs do, or ""."""
        part = self.warm.instance.parts[self.name]
        run = runner.case.named[self.name]
        prepare = self.warm.instance.prepare

        def eager(step: int, call: Call) -> object:
            if prepare is not None:
                prepare(step)
            return call.of(run)

        def replayed(step: int, call: Call) -> object:
            runner.step = step
            return runner.call(self.name, *call.args, **call.kwargs)

        for step in range(min(steps, len(part.steps))):
            expected = self._result(step, eager)
            noise = floor(expected, self._result(step, eager))
            bound = Tolerance(self.settings.rtol, self.settings.atol, noise)
            found = difference(expected, self._result(step, replayed), bound)
            if found is not None:
                return f"stale-on-replay: {_differs(found)}; {_NEXT}"
        return ""

    def _result(self, step: int, run: Callable[[int, Call], object]) -> object:
        """Return a copy of what a step returns. Leaves the state as it was after the warm-up."""
        instance = self.warm.instance
        instance.state.restore(self.warm.start)
        own = instance.parts[self.name].steps[step][0].copied()
        self.backend.seed(self.settings.seed + step)
        try:
            with modes_of(instance.case, self.settings):
                return copied(run(step, own))
        finally:
            instance.state.restore(self.warm.start)


def _differs(found: Difference) -> str:
    what = f"`{found.path}`" if found.path else "the result"
    if found.largest is None:
        return f"{what} is {found.got}, in eager {found.expected}"
    return f"{what} differs from eager by up to {found.largest:.3g}"
