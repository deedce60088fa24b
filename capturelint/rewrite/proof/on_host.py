"""Runs on a copy on the host, where what reads beyond a table raises; on a GPU it ends the context."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn
from torch.utils import _pytree as pytree

from capturelint.debug.attempts.part import Call


@dataclass(slots=True)
class OnHost:
    """Tells whether a module runs on some inputs, without running it on the device."""

    run: Callable[..., object]
    _copy: nn.Module | None = field(default=None, init=False)
    _is_copied: bool = field(default=False, init=False)

    def fits(self, calls: tuple[Call, ...]) -> bool:
        """Return whether a copy on the host runs the calls of one step; False where there is no copy."""
        if not self._is_copied:
            self._copy, self._is_copied = _on_host(self.run), True
        if self._copy is None:
            return False
        try:
            with torch.no_grad():
                for call in (one.copied() for one in calls):
                    args, kwargs = pytree.tree_map(_moved, (call.args, dict(call.kwargs)))
                    replace(call, args=args, kwargs=kwargs).of(self._copy)
        except Exception:  # noqa: BLE001 - user code may raise anything
            return False
        return True


def _on_host(run: Callable[..., object]) -> nn.Module | None:
    if not isinstance(run, nn.Module):
        return None
    try:
        return copy.deepcopy(run).cpu()
    except Exception:  # noqa: BLE001 - modules of users may hold anything
        return None


def _moved(value: object) -> object:
    return value.cpu() if isinstance(value, Tensor) else value
