"""Look at one watched value again and again, cheaply, and tell whether it changed between looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.utils._mode_utils import no_dispatch

from capturelint.debug.states.differences import Change, Route
from capturelint.debug.states.host_random import generator_of, global_generators, is_same_state
from capturelint.debug.states.kinds import Kind, kind_of
from capturelint.debug.states.marks import place_of
from capturelint.debug.trees.containers import container_of
from capturelint.debug.trees.memory import storage_of

_MISSING = object()
_MOST_BYTES = 1 << 20  # of a host tensor whose contents are compared at each line


@dataclass(frozen=True, slots=True)
class Probe:
    """One value to look at. `name`: of the change that it is about."""

    name: str
    look: Callable[[], object]
    is_same: Callable[[Any, Any], bool]


def probe_of(change: Change, route: Route | None) -> Probe | None:
    """Return a probe of what changed, None if nothing leads to it."""
    if route is not None:
        is_content = change.kind == "host tensor"
        return Probe(change.name, lambda: _look(route, is_content=is_content), _is_same)
    for generator in global_generators():
        if generator.name == change.name:
            return Probe(change.name, generator.state, is_same_state)
    return None


def _look(route: Route, *, is_content: bool) -> object:
    """Return what tells whether the value at the end of `route` is another one later."""
    try:
        value: Any = route.end()
    except Exception:  # noqa: BLE001 - a tracer that raises would raise in the user's code
        return _MISSING
    kind = kind_of(type(value))
    if kind is Kind.TENSOR:
        return (place_of(value), value.requires_grad, _contents(value) if is_content else None)
    if kind is Kind.ARRAY:
        return value.tobytes() if value.nbytes <= _MOST_BYTES else None
    if kind is Kind.GENERATOR:
        generator = generator_of(value)
        return None if generator is None else _Drawn(generator.state())
    container = container_of(type(value))
    return value if container is None else (value, len(value))


@dataclass(frozen=True, slots=True)
class _Drawn:
    """The state of a user's own generator."""

    state: Any


def _contents(tensor: Tensor) -> object:
    storage = storage_of(tensor)
    if storage is None or storage.nbytes() > _MOST_BYTES:
        return None if tensor.is_inference() else tensor._version  # noqa: SLF001 - counts writes
    with no_dispatch():
        whole = torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
        return whole.clone()


def _is_same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, _Drawn):
        return is_same_state(one.state, other.state)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if isinstance(one, Tensor):
        with no_dispatch():
            return torch.equal(one, other)
    return kind_of(type(one)) is Kind.SCALAR and bool(one == other)
