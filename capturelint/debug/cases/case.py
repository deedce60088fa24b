"""A case: the modules or functions to judge, their inputs, and how each step is prepared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from capturelint.debug.cases.mistakes import CaseError, kind_of

if TYPE_CHECKING:
    import torch

Mode: TypeAlias = Literal["no_grad", "inference", "train"]
Runnable: TypeAlias = Callable[..., Any]  # a module or a function


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Case:
    """What to judge, and on what.

    `callables`: a module or a function, or several by name. `inputs`: a function of `seed` that
    makes fresh inputs of fixed shapes; or a list of recorded inputs, one for each step; or one
    example. What a call receives is a tensor (one argument), a tuple (positional ones), a mapping
    (keyword ones) or `(tuple, mapping)`; of several callables, a mapping of their names to such.
    `prepare`: is given the number of the step, and runs before it, outside of what is captured.
    `state`: more tensors that calls write. `batch_dims`: which dimension is the batch, for all
    inputs or by name, None for an input without rows. `mode`: `train` runs with gradients. `tolerance`: the difference that counts
    as equal, absolute and relative; None for the bound of the dtype. `notes`: what a report must
    say about the case.

    Raises `CaseError` if a field does not hold what it should.
    """

    callables: Runnable | Mapping[str, Runnable]
    inputs: object
    prepare: Callable[[int], object] | None = None
    state: Sequence[torch.Tensor] | None = None
    batch_dims: int | Mapping[str, int | None] | None = None
    mode: Mode = "no_grad"
    tolerance: float | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problem = next(iter(self._problems()), None)
        if problem is not None:
            raise CaseError(problem)

    @property
    def named(self) -> dict[str, Runnable]:
        """Return the callables by name; the name of a single one is ""."""
        if isinstance(self.callables, Mapping):
            return dict(self.callables)
        return {"": self.callables}

    def _problems(self) -> Iterable[str]:
        yield from _wrong_callables(self.callables)
        yield from _wrong_inputs(self.inputs)
        yield from _wrong_state(self.state)
        yield from _wrong_prepare(self.prepare)
        yield from _wrong_batch_dims(self.batch_dims)
        if self.mode not in get_args(Mode):
            yield f"mode {self.mode!r} is unknown; the modes are {', '.join(get_args(Mode))}"
        if self.tolerance is not None and not _is_bound(self.tolerance):
            yield f"tolerance is {self.tolerance!r}; give a number that is not negative"


def _wrong_callables(callables: object) -> Iterable[str]:
    if not isinstance(callables, Mapping):
        if not callable(callables):
            yield f"callables is {kind_of(callables)}; give a module, a function, or several by name"
        return
    if not callables:
        yield "callables is empty; name at least one module or function"
    for name, one in callables.items():
        if not isinstance(name, str) or not name:
            yield f"callables has the key {name!r}; name each module or function by text"
        if not callable(one):
            yield f"callables[{name!r}] is {kind_of(one)}; give a module or a function"


def _wrong_inputs(inputs: object) -> Iterable[str]:
    if isinstance(inputs, list):
        if not inputs:
            yield "inputs is an empty list; give at least one recorded input"
        for index, one in enumerate(inputs):
            if not is_arguments(one):
                yield f"inputs[{index}] is {kind_of(one)}; {ARGUMENTS}"
    elif not callable(inputs) and not is_arguments(inputs):
        yield (
            f"inputs is {kind_of(inputs)}; give a function of seed, a list of recorded inputs, "
            "or one example"
        )


def _wrong_prepare(prepare: object) -> Iterable[str]:
    if prepare is not None and not callable(prepare):
        yield f"prepare is {kind_of(prepare)}; give a function of the step's number"


def _wrong_state(state: object) -> Iterable[str]:
    if state is None:
        return
    if not isinstance(state, list | tuple):
        yield f"state is {kind_of(state)}; give a list of tensors"
        return
    for index, one in enumerate(state):
        if not _is_tensor(one):
            yield f"state[{index}] is {kind_of(one)}; give tensors"


def _wrong_batch_dims(batch_dims: object) -> Iterable[str]:
    dims = batch_dims.values() if isinstance(batch_dims, Mapping) else [batch_dims]
    for one in dims:
        if one is not None and not (isinstance(one, int) and not isinstance(one, bool)):
            yield f"batch_dims holds {kind_of(one)}; give the number of a dimension"


ARGUMENTS = "give a tensor, a tuple, a mapping, or (tuple, mapping)"


def is_arguments(value: object) -> bool:
    """Return whether `value` can be read as what a call receives."""
    return isinstance(value, tuple | Mapping) or _is_tensor(value)


def _is_tensor(value: object) -> bool:
    # A case is made before torch is needed, except where it holds tensors.
    import torch

    return isinstance(value, torch.Tensor)


def _is_bound(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
