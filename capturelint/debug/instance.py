"""One loaded instance of a case, on the device, with what its callables receive in each step."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

import torch
from torch import nn

from capturelint.debug.attempts.kept import Kept, kept_call
from capturelint.debug.attempts.part import Call, Part
from capturelint.debug.backend import Backend
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.steps import Steps, calls_of
from capturelint.debug.running import modules_of, names_of
from capturelint.debug.settings import Settings
from capturelint.debug.states.state import State

_HALVES = ("float16", "bfloat16")


@dataclass(frozen=True, slots=True)
class Instance:
    """A case that is ready to run. `parts`: its callables by name. `notes`: about its inputs.

    `modules`: every module by path, under all of its names. `steps`: what makes the inputs.
    `prepare`: what the user runs before each step, if anything; what it writes becomes state.
    """

    case: Case
    parts: dict[str, Part]
    modules: dict[str, nn.Module]
    state: State
    notes: tuple[str, ...]
    steps: Steps
    prepare: Callable[[int], object] | None


def loaded(
    load: Callable[[], Case], backend: Backend, settings: Settings, *, is_sharing: bool = True
) -> Instance:
    """Return a fresh instance of a case. Runs user code. Raises `CaseError`.

    `is_sharing`: an object that all inputs share is one in all steps too, as state is.
    """
    backend.seed(settings.seed)
    case = load()
    place_modules(modules_of(case.named).values(), backend, settings)
    steps = calls_of(case, settings, backend, is_sharing=is_sharing)
    shared = steps.shared.objects
    state_of_shared = {f"argument {name}": one for name, one in shared.items()}
    kept: list[Mapping[str, Callable[[], Call]]] = []
    for step in range(settings.replays + 1):
        received = steps(step).items()
        kept.append(
            {name: kept_call(Call(*one, shared=tuple(shared.values()))) for name, one in received}
        )
    parts = {
        name: Part(
            path=name,
            cls=_class_of(run),
            run=run,
            steps=Kept([calls[name]] for calls in kept),
            shared=state_of_shared,
        )
        for name, run in case.named.items()
    }
    state = State({**_watched(case), **state_of_shared}, extra=tuple(case.state or ()))
    return Instance(
        case=case,
        parts=parts,
        modules=names_of(case.named),
        state=state,
        notes=(*case.notes, *steps.notes),
        steps=steps,
        prepare=None if case.prepare is None else _learning(case.prepare, state, backend),
    )


def _learning(
    prepare: Callable[[int], object], state: State, backend: Backend
) -> Callable[[int], object]:
    """Return `prepare`, so that `state` puts back what it writes in any step, whoever runs it."""

    def prepared(step: int) -> object:
        with backend.eagerly(), state.watching():
            return prepare(step)

    return prepared


class Current:
    """The one instance of a case that is on the device: a new one is made when the old is gone.

    `instance`: the one that is there now.
    """

    def __init__(self, load: Callable[[], Case], backend: Backend, settings: Settings) -> None:
        self._backend = backend
        self._settings = settings
        self._instance: Instance | None = loaded(load, backend, settings)

    @property
    def instance(self) -> Instance:
        """Return it. Whoever keeps it keeps its memory from the next one."""
        assert self._instance is not None, "a new one could not be loaded"
        return self._instance

    def renew(self, load: Callable[[], Case], *, note: str = "", is_sharing: bool = True) -> None:
        """Load it anew, with a note about why unless that is ""."""
        self._instance = None
        gc.collect()  # modules and what they hold are often tied up in circles
        instance = loaded(load, self._backend, self._settings, is_sharing=is_sharing)
        self._instance = replace(instance, notes=(*instance.notes, *filter(None, [note])))


def with_gradients(load: Callable[[], Case]) -> Callable[[], Case]:
    """Return what makes the same case, run with gradients."""
    return lambda: replace(load(), mode="train")


@contextmanager
def modes_of(case: Case, settings: Settings) -> Iterator[None]:
    """Run what is inside in the modes of `case`: gradients, inference mode, autocast."""
    with ExitStack() as stack:
        if case.mode == "inference":
            stack.enter_context(torch.inference_mode())
        else:
            stack.enter_context(torch.set_grad_enabled(case.mode == "train"))
        if settings.autocast is not None:
            stack.enter_context(torch.autocast("cuda", dtype=_half(settings.autocast)))
        yield


def _half(name: str) -> torch.dtype:
    if name not in _HALVES:
        raise CaseError(
            f"--autocast {name}: autocast has no such dtype; use {' or '.join(_HALVES)}"
        )
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def _watched(case: Case) -> dict[str, object]:
    """Return what the calls of `case` may change, by the name that its changes are to be told by.

    A module that a function holds is told by its path, not by how the function holds it.
    """
    watched: dict[str, object] = {}
    for path, module in modules_of(case.named).items():
        if not any(path.startswith(f"{above}.") or above == "" for above in watched):
            watched[path] = module
    functions = {name: run for name, run in case.named.items() if not isinstance(run, nn.Module)}
    for name, run in functions.items():
        watched.setdefault(name or "the case", run)
    if case.prepare is not None:
        watched["prepare"] = case.prepare
    return watched


def place_modules(modules: Iterable[nn.Module], backend: Backend, settings: Settings) -> None:
    """Move modules to the device, in the dtype that was asked for."""
    for module in modules:
        backend.place(module)
        if settings.dtype is not None:
            module.to(getattr(torch, settings.dtype))


def _class_of(run: object) -> str:
    if isinstance(run, nn.Module):
        return type(run).__name__
    return getattr(run, "__qualname__", type(run).__name__)
