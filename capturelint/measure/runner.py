"""Run steps as graphs by batch size: round up, copy in, replay, read out, fall back to eager.

A harness to measure and to debug with, not a server: one graph for each size and callable, in one
memory pool, captured from the largest size down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.requirements import require_torch
from capturelint.debug.settings import Settings
from capturelint.measure.graphs.mistakes import RunnerError

if TYPE_CHECKING:
    from typing_extensions import Self

    from capturelint.debug.backend import Backend
    from capturelint.measure.graphs.capturing import Captured

_RESULTS = ("copy", "view")


class GraphRunner:
    """Graphs of a case by batch size, called like the case's callable.

    `case`: a `Case`, or `(module, inputs)`; `inputs(seed, batch_size=B)` makes arguments of B rows.
    `sizes`: the rows of each graph. `pad`: what pad rows hold: `zero`; `repeat-last`, the last real
    row again; `keep`, what was there before. `result`: `copy`, or `view`: memory that the next
    replay of the same callable and size overwrites, and no other. `eager`: globs over paths of
    modules that run eagerly, and with them the lines of what calls them; what they call around
    them is captured in pieces. `warmup`: eager calls before each capture. `backend`: `cuda`;
    `simulated`, to try it without a GPU; or a backend with its session open. None is `cuda`. One by
    name is open until `close`. `settings`: `dtype`, `autocast` and `seed` of the examples, as
    `bisect` has them.

    Making it runs user code: calls change state as calls do. Each later call runs `prepare(step)`,
    copies its arguments in, replays the graph of the next size up and returns the real rows. Above
    the largest size, and without rows, the callable runs eagerly. Tensors that calls write in their
    arguments are written in the caller's too. What is returned has no gradients.

    Calls from several threads wait for each other, and so do their streams; with `view` a second
    thread is refused, as it would overwrite what the first holds.

    Raises a `CapturelintError` if the case cannot be captured, or if anything but the rows differs
    from what was captured: shape, dtype, device, another value.
    """

    def __init__(
        self,
        case: Case | tuple[Any, Any],
        sizes: Sequence[int],
        *,
        pad: str = "zero",
        result: str = "copy",
        eager: Sequence[str] = (),
        warmup: int = 3,
        backend: Backend | str | None = None,
        settings: Settings | None = None,
        watch: Callable[[int, str, str], AbstractContextManager[None]] | None = None,
    ) -> None:
        """Capture the graphs. `watch`: a context for each size, callable and phase, `warm-up` or `capture`."""
        require_torch("GraphRunner")
        # Not with this module: whoever only names the class need not wait for torch.
        from capturelint.measure.graphs.capturing import Choices
        from capturelint.measure.graphs.stepping import Stepping

        if result not in _RESULTS:
            raise RunnerError(f"result is {result!r}; it must be one of {', '.join(_RESULTS)}")
        choices = Choices(
            settings or Settings(),
            warmup=max(1, warmup),
            eager=tuple(eager),
            is_view=result == "view",
            watch=watch or (lambda _size, _name, _phase: nullcontext()),
        )
        self.case = case if isinstance(case, Case) else Case(*case)
        names = list(self.case.named)
        self._only = names[0] if len(names) == 1 else None
        self._stepping = Stepping(self.case, sizes, pad=pad, choices=choices, backend=backend)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the sizes of the graphs, ascending."""
        return self._stepping.sizes

    @property
    def step(self) -> int:
        """Return the number that `prepare` is given next: how many calls there were, unless it was set."""
        return self._stepping.step

    @step.setter
    def step(self, number: int) -> None:
        self._stepping.step = number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run one step of the only callable."""
        if self._only is None:
            names = ", ".join(self.case.named)
            raise RunnerError(f"the case has {names}; use `call(NAME, ...)`")
        return self._stepping.run(self.captured(self._only), args, kwargs)

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run one step of the callable `name`."""
        return self._stepping.run(self.captured(name), args, kwargs)

    def size_for(self, rows: int) -> int | None:
        """Return the size that so many rows run at, None where they run eagerly."""
        return self._stepping.size_for(rows)

    def captured(self, name: str = "") -> Captured:
        """Return a callable with its graphs, for measuring their parts."""
        found = self._stepping.captured.get(name)
        if found is not None:
            return found
        if name in self.case.named:
            raise RunnerError("the runner is closed; make another")
        known = ", ".join(one or "only one, without a name" for one in self.case.named)
        raise RunnerError(f"the case has no callable {name!r}; it has {known}")

    def close(self) -> None:
        """Give the memory of all graphs back. No call is possible afterwards."""
        self._stepping.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
