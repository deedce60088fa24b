"""The inputs of each step: what the callables of a case receive, of fixed shapes, on the device."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TypeVar

import torch

from capturelint.debug.backend import Backend
from capturelint.debug.cases.arguments import Calls, named, tensors
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.inputs import source_of
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.shared import Shared
from capturelint.debug.settings import Settings
from capturelint.debug.trees.trees import copied, leaves

_Tree = TypeVar("_Tree")


class Steps:
    """Makes what each callable receives in step `k`, from 0. `notes`: what was held, and why.

    `held`: names of inputs that are the same in the first two steps. `shared`: what all steps share; none if `is_sharing` is not set, and each step has copies.
    Making this costs the inputs of two steps. Seeds the generators before each call of the user's
    function. Raises `CaseError` if the inputs cannot be used.
    """

    def __init__(
        self, case: Case, settings: Settings, backend: Backend, *, is_sharing: bool = True
    ) -> None:
        self._case = case
        self._backend = backend
        self._dtype = _dtype(settings.dtype)
        self._source = source_of(case, settings, backend)
        steps = [named(case, self._source.calls(step)) for step in (0, 1)]
        first, second = (dict(tensors(arguments)) for arguments in steps)
        self._shapes = _shapes(first)
        self._check(_shapes(second), 1)
        self.shared = Shared(steps[0], steps[1] if is_sharing else {})
        self.shared.become(self._on_device)
        self.held = _held(first, second)
        self.notes = (*self._source.notes, *_notes_of_equal(first, self.held))

    def __call__(self, step: int) -> Calls:
        """Return positional and keyword arguments by callable, made anew at each call."""
        calls = self._source.calls(step)
        self._check(_shapes(dict(tensors(named(self._case, calls)))), step)
        return self.shared.apart(calls, self._on_device)

    def draw(self, step: int) -> None:
        """Let the user make the inputs of `step`, for what that does to what is shared."""
        self._source.calls(step)

    def _on_device(self, tree: _Tree) -> _Tree:
        return self._backend.place(self._cast(tree))

    def _check(self, shapes: Mapping[str, str], step: int) -> None:
        before, now = self._source.label(0), self._source.label(step)
        for name in {**self._shapes, **shapes}:
            was, is_ = self._shapes.get(name, "missing"), shapes.get(name, "missing")
            if was != is_:
                raise CaseError(
                    f"the input `{name}` is {was} in {before} but {is_} in {now}; "
                    "a graph needs the same shapes at every step"
                )

    def _cast(self, tree: _Tree) -> _Tree:
        if self._dtype is None:
            return tree
        tree = copied(tree)  # what the user's function keeps stays as it is
        for tensor in (leaf.value for leaf in leaves(tree)):
            if not isinstance(tensor, torch.Tensor):
                continue
            if tensor.dtype in _CAST and not isinstance(tensor, torch.nn.Parameter):
                tensor.data = tensor.data.to(self._dtype)
        return tree


def calls_of(case: Case, settings: Settings, backend: Backend, *, is_sharing: bool = True) -> Steps:
    """Return what makes the inputs of each step of `case`."""
    return Steps(case, settings, backend, is_sharing=is_sharing)


_CAST = (torch.float32, torch.float64, torch.float16, torch.bfloat16)


def _dtype(name: str | None) -> torch.dtype | None:
    found = None if name is None else getattr(torch, name, None)
    if name is not None and not isinstance(found, torch.dtype):
        raise CaseError(f"--dtype {name}: torch has no such dtype; name one such as bfloat16")
    return found


def _shapes(inputs: Mapping[str, torch.Tensor]) -> dict[str, str]:
    return {
        name: f"{tuple(one.shape)} {str(one.dtype).removeprefix('torch.')}"
        for name, one in inputs.items()
    }


def _held(first: Mapping[str, torch.Tensor], second: Mapping[str, torch.Tensor]) -> tuple[str, ...]:
    return tuple(name for name, one in first.items() if torch.equal(one, second[name]))


def _notes_of_equal(first: Mapping[str, torch.Tensor], held: Collection[str]) -> tuple[str, ...]:
    if not first or len(held) < len(first):
        return ()
    return ("the first two steps have equal inputs: what a graph froze from them is not seen",)
