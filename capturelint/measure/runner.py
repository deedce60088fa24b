"""Run steps as graphs by batch size: round up, copy in, replay, read out, fall back to eager.

A harness to measure and to debug with, not a server: one graph for each size and callable, in one
memory pool, captured from the largest size down.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import kind_of
from capturelint.debug.cases.requirements import require_torch
from capturelint.debug.settings import Settings
from capturelint.errors import shown
from capturelint.measure.graphs.mistakes import RunnerError

if TYPE_CHECKING:
    from typing_extensions import Self

    from capturelint.debug.backend import Backend
    from capturelint.measure.graphs.capturing import Captured

_RESULTS = ("copy", "view")
_PAIR = 2  # a module and its inputs


class GraphRunner:
    """Graphs of a case by batch size, called like the case's callable.

    `case`: a `Case`, or `(module, inputs)`; `inputs(seed, batch_size=B)` makes arguments of B rows.
    `sizes`: the rows of each graph. `pad`: what pad rows hold: `zero`; `repeat-last`, the last real
    row again; `keep`, what was there before. `result`: `copy`, or `view`: memory that the next
    replay of the same callable and size overwrites, and no other. `eager`: globs over paths of
    modules that run eagerly, and with them the lines of what calls them; what they call around
    them is captured in pieces. `warmup`: eager calls before each capture. `backend`: `cuda`;
    `simulated`, to try it without a GPU; or a backend with its session open. None is `cuda`. One by
    name is open until `close`. `settings`: by name as `bisect` has them; `dtype`, `autocast`, `seed`
    and `capture_error_mode` count.

    Making it runs user code: calls change state as calls do. Each later call runs `prepare(step)`,
    copies its arguments in, replays the graph of the next size up and returns the real rows. Above
    the largest size, and without rows, the callable runs eagerly. Tensors that calls write in their
    arguments are written in the caller's too. An object that all inputs share, such as a cache, is
    used in place, and is itself what is returned of it. What is returned has no gradients.

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
        eager: str | Sequence[str] = (),
        warmup: int = 3,
        backend: Backend | str | None = None,
        settings: Settings | Mapping[str, object] | None = None,
        watch: Callable[[int, str, str], AbstractContextManager[None]] | None = None,
    ) -> None:
        """Capture the graphs. `watch`: a context for each size, callable and phase, `warm-up` or `capture`."""
        require_torch("GraphRunner")
        # Not with this module: whoever only names the class need not wait for torch.
        from capturelint.measure.graphs.capturing import Choices
        from capturelint.measure.graphs.stepping import Stepping

        if result not in _RESULTS:
            raise RunnerError(f"result is {result!r}; it must be one of {', '.join(_RESULTS)}")
        _check_warmup(warmup)
        choices = Choices(
            _settings(settings),
            warmup=warmup,
            eager=(eager,) if isinstance(eager, str) else tuple(eager),
            is_view=result == "view",
            watch=watch or (lambda _size, _name, _phase: nullcontext()),
        )
        self.case = _case(case)
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
        return self._stepping.run(self._only, args, kwargs)

    def call(self, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Run one step of the callable `name`."""
        return self._stepping.run(name, args, kwargs)

    def size_for(self, rows: int) -> int | None:
        """Return the size that so many rows run at, None where they run eagerly."""
        return self._stepping.size_for(rows)

    def captured(self, name: str = "") -> Captured:
        """Return a callable with its graphs, for measuring their parts."""
        return self._stepping.named(name)

    def close(self) -> None:
        """Give the memory of all graphs back. No call is possible afterwards."""
        self._stepping.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _case(given: object) -> Case:
    if isinstance(given, Case):
        return given
    if not isinstance(given, tuple) or len(given) != _PAIR:
        told = f"a tuple of {len(given)}" if isinstance(given, tuple) else kind_of(given)
        raise RunnerError(f"case is {told}; give (module, inputs), or a capturelint.Case")
    return Case(*given)


def _check_warmup(calls: object) -> None:
    if isinstance(calls, bool) or not isinstance(calls, int) or calls < 1:
        raise RunnerError(f"warmup is {shown(calls)}; give a whole number, 1 or more")


def _settings(given: Settings | Mapping[str, object] | None) -> Settings:
    if isinstance(given, Settings):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise RunnerError(
            f'settings is {kind_of(given)}; give a dict such as {{"dtype": "bfloat16"}}'
        )
    from capturelint.debug.choices import settings_from

    return settings_from(given or {})
