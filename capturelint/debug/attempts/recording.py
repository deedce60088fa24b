"""What the modules called by the one under test receive and return, copied while it runs."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from torch import nn
from torch._C._functorch import peek_interpreter_stack

from capturelint.debug.attempts.calls import Run, every_call_through, is_compiled
from capturelint.debug.attempts.kept import Kept, made
from capturelint.debug.attempts.modes import Modes
from capturelint.debug.attempts.part import Call, Part, alike_steps
from capturelint.debug.trees.parked import Parked

_MIB = 2**20
_FEWEST_STEPS = 2  # one to capture, and one that must differ from it


@dataclass(frozen=True, slots=True)
class Level:
    """The outermost modules that one module called, in order of first call.

    `missing`: paths of those that were not kept for want of memory: record again with `only` them.
    `notes`: what the user must know.
    """

    parts: tuple[Part, ...]
    missing: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def record(
    run_step: Callable[[int], object],
    *,
    root: object,
    modules: Mapping[str, nn.Module],
    steps: int,
    limit: int,
    path: str = "",
    only: Collection[str] | None = None,
    shared: Mapping[str, object] | None = None,
) -> Level:
    """Return what the modules that `root` calls itself receive and return in each step.

    `run_step`: runs `root` for one step, from 0, on the state that the step before left. `modules`:
    those below `root` by path, under all their names. Others are found too, and named as not
    registered below `path`, which is that of `root`. `limit`: bytes to keep. `only`: the paths to
    keep, None for all. `shared`: objects that all steps receive, by their names: they are state, and
    not copied. Modules that compiled code runs are not seen. Of a module whose calls vary, the steps
    are kept that are alike, if there are two. What is kept lies on the host.
    """
    recorder = _Recorder(root, path, modules, steps, limit, only, shared or {})
    with every_call_through(recorder.call, modules.values()):
        for step in range(steps):
            recorder.step = step
            run_step(step)
    return recorder.level()


@dataclass(slots=True)
class _Recorded:
    """What is kept of one module. `size`: bytes of one step. `most`: steps to keep."""

    module: nn.Module
    path: str
    aliases: tuple[str, ...]
    is_registered: bool
    is_wanted: bool
    most: int
    steps: list[list[Callable[[], Call]]]
    results: list[list[Callable[[], object]]]
    size: int = 0
    raised: str = ""


class _Recorder:
    """Decides what to keep of the calls it sees, and keeps it. `step`: the one that runs."""

    def __init__(
        self,
        root: object,
        path: str,
        modules: Mapping[str, nn.Module],
        steps: int,
        limit: int,
        only: Collection[str] | None,
        shared: Mapping[str, object],
    ) -> None:
        self.step = 0
        self._shared = shared
        self._root = root
        self._path = path
        self._names = _names(modules)
        self._steps = steps
        self._limit = limit
        self._only = only
        self._is_inside = False
        self._thread = threading.get_ident()
        self._kept: dict[int, _Recorded] = {}
        self._notes: dict[str, str] = {}

    def call(
        self, module: nn.Module, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        """Run one call of a module, and keep it if no other called module is running."""
        is_own = module is self._root or threading.get_ident() != self._thread
        # Inside a transform of functions, such as `vmap`, tensors are not what they look like.
        if self._is_inside or is_own or peek_interpreter_stack() is not None:
            return run(*args, **kwargs)
        kept = self._kept.get(id(module)) or self._new(module)
        self._is_inside = True
        try:
            return self._seen(kept, run, args, kwargs)
        finally:
            self._is_inside = False

    def level(self) -> Level:
        """Return what was kept."""
        seen = [one for one in self._kept.values() if one.is_registered or not _is_made_anew(one)]
        if not seen and isinstance(self._root, nn.Module) and is_compiled(self._root):
            self._notes[""] = f"{spoken(self._path)} is compiled: the modules it calls are not seen"
        return Level(
            parts=tuple(_part(kept, self._shared) for kept in seen if kept.most),
            missing=tuple(kept.path for kept in seen if kept.is_wanted and not kept.most),
            notes=tuple(self._notes.values()),
        )

    def _seen(
        self, kept: _Recorded, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> object:
        if self.step >= kept.most:
            return run(*args, **kwargs)
        shared = tuple(self._shared.values())
        received = Parked((args, kwargs), shared=shared)  # before the call, which may write them
        try:
            result = run(*args, **kwargs)
        except Exception as error:
            kept.raised = f"it raises {type(error).__name__} in step {self.step + 1}"
            raise
        returned = Parked(result, shared=shared)
        kept.steps[self.step].append(partial(made, received, Modes.now(), shared))
        kept.results[self.step].append(returned.back)
        if self.step == 0:
            kept.size += received.size + returned.size
            self._fit(kept)
        return result

    def _fit(self, latest: _Recorded) -> None:
        """Keep no more than the limit allows, if all steps are like the first."""
        total = sum(kept.size for kept in self._kept.values() if kept.most)
        if total * self._steps <= self._limit:
            return
        if total > latest.size:
            latest.most = 0
            latest.steps, latest.results = [], []
            return
        latest.most = max(_FEWEST_STEPS, self._limit // total)
        self._notes[latest.path] = (
            f"{spoken(latest.path)} receives and returns {total / _MIB:.0f} MiB in each step: "
            f"kept {latest.most} steps of {self._steps}; raise --record-limit for more"
        )

    def _new(self, module: nn.Module) -> _Recorded:
        names = self._names.get(id(module)) or [self._unregistered(module)]
        is_wanted = self._only is None or names[0] in self._only
        kept = _Recorded(
            module,
            path=names[0],
            aliases=tuple(names[1:]),
            is_registered=id(module) in self._names,
            is_wanted=is_wanted,
            most=self._steps if is_wanted else 0,
            steps=[[] for _ in range(self._steps)],
            results=[[] for _ in range(self._steps)],
        )
        self._kept[id(module)] = kept
        return kept

    def _unregistered(self, module: nn.Module) -> str:
        """Return a name for a module that has none."""
        taken = {kept.path for kept in self._kept.values()}
        kind = f"{class_name(module)} not registered"
        names = (f"<{kind}{f' {number}' if number > 1 else ''}>" for number in itertools.count(1))
        paths = (f"{self._path}.{name}".strip(".") for name in names)
        return next(path for path in paths if path not in taken)


def _part(kept: _Recorded, shared: Mapping[str, object]) -> Part:
    steps = Kept(kept.steps[: kept.most])
    numbers, variation = alike_steps(steps, kept.module)
    part = Part(
        path=kept.path,
        cls=class_name(kept.module),
        run=kept.module,
        steps=steps,
        results=Kept(kept.results[: kept.most]),
        aliases=kept.aliases,
        varies=kept.raised or variation,
        shared=shared,
    )
    if not part.varies or kept.raised or len(numbers) < _FEWEST_STEPS:
        return part
    # That a caller sometimes calls it otherwise is the caller's doing.
    alike = Kept(kept.steps[number] for number in numbers)
    return replace(part, steps=alike, numbers=numbers, varies="")


def _is_made_anew(kept: _Recorded) -> bool:
    """Return whether every call of the parent makes such a module: it is part of its own lines."""
    return len(kept.steps) > 1 and sum(bool(calls) for calls in kept.steps) == 1


def _names(modules: Mapping[str, nn.Module]) -> dict[int, list[str]]:
    names: dict[int, list[str]] = {}
    for path, module in modules.items():
        names.setdefault(id(module), []).append(path)
    return names


def class_name(module: nn.Module) -> str:
    """Return the name of a module's class; of a compiled one, that of the module that it runs."""
    held = vars(module).get("_modules")  # TorchScript keeps them elsewhere
    original = held.get("_orig_mod") if isinstance(held, dict) else None
    return type(module if original is None else original).__name__


def spoken(path: str) -> str:
    """Return what messages call the module at `path`."""
    return f"`{path}`" if path else "the root"
