"""Judge a case from Python: `bisect` runs it in a child process and returns what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from capturelint.debug.cases.named import check_named
from capturelint.debug.cases.requirements import require_torch
from capturelint.debug.choices import settings_from
from capturelint.debug.processes.request import Request
from capturelint.debug.processes.spawn import worker_command
from capturelint.debug.processes.supervised import Progress, run_by_name, run_live
from capturelint.debug.processes.worker import Tools, loading_late
from capturelint.errors import CapturelintError
from capturelint.verdict import Report

if TYPE_CHECKING:
    from capturelint.debug.cases.case import Case, Runnable
    from capturelint.debug.settings import Settings


class CannotResumeError(CapturelintError):
    """An object in memory was to be judged from where an earlier run stopped."""

    def __init__(self) -> None:
        super().__init__("resume needs a case by name, such as 'models/llama.py:make'")


def bisect(
    case: str | Case | Runnable | tuple[Any, ...],
    *,
    inputs: object = None,
    call: str | None = None,
    resume: bool = False,
    progress: Progress | None = None,
    **settings: Any,
) -> Report:
    """Return what a CUDA graph would do to a model, and which module and line are to blame.

    `case`: `file.py:make`, `pkg.mod:make`, `hf:TYPE`, `timm:NAME`, or a `Case`, a module, a
    function or `(module, inputs)`. `inputs`: what makes or holds the inputs, or its name, where the
    case does not bring them. `call`: the method to judge instead of `forward`. `resume`: continue a
    run of the same case by name that was killed. `progress`: is told in words what is done.
    `settings`: `backend="auto"`, `train=False`, `dtype=None`, `autocast=None`, `replays=6`,
    `warmup=None`, `cold=False`, `modules=()`, `skip=()`, `rtol=None`, `atol=None`, `redraw=()`,
    `timeout=300.0` seconds for each step, `first=False`, `seed=0`, `record_limit=4096` MiB,
    `capture_error_mode="global"`, `pad=False`, `batch_dim=()`, `soak=0`, `asked=()`; `capturelint.debug.settings` says what they do.

    The case runs in a child process: nothing that it does changes this one, and where it hangs or
    ends its process, that part is undecided. One by name is loaded anew; an object in memory is
    judged in a fork, or in this process on a GPU and where there is no `fork`. Raises a `CapturelintError` if
    the case or a setting cannot be used.
    """
    chosen = settings_from(settings)
    if resume and not _is_by_name(case, inputs):
        raise CannotResumeError
    if isinstance(case, str):
        check_named(case, inputs if isinstance(inputs, str) else None)
    require_torch()
    if isinstance(case, str) and (inputs is None or isinstance(inputs, str)):
        request = Request(case, chosen, inputs, call)
        return run_by_name(request, command=worker_command(), resume=resume, progress=progress)
    return _judged_live(case, inputs, call, chosen, progress)


def _is_by_name(case: object, inputs: object) -> bool:
    return isinstance(case, str) and (inputs is None or isinstance(inputs, str))


def _judged_live(
    case: str | Case | Runnable | tuple[Any, ...],
    inputs: object,
    call: str | None,
    chosen: Settings,
    progress: Progress | None,
) -> Report:
    def loader() -> Callable[[], Case]:
        from capturelint.debug.cases.loading import load

        return load(case, inputs=inputs, call=call, settings=chosen)

    return run_live(
        loading_late(loader), chosen, case=_named(case), tools=Tools(), progress=progress
    )


def _named(case: object) -> str:
    """Return what to call a case that is in memory: the class or function that it runs."""
    if isinstance(case, str):
        return case
    if isinstance(case, tuple) and case:
        return _named(case[0])
    callables = getattr(case, "callables", None)
    if isinstance(callables, Mapping):
        return ", ".join(callables)
    if callables is not None:
        return _named(callables)
    return str(getattr(case, "__qualname__", type(case).__qualname__))
