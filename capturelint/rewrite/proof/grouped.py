"""Grouped products of float64, which torch has for float32 and less alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

_GROUPED = getattr(torch, "_grouped_mm", None)


class GroupedInFloat64(TorchFunctionMode):
    """Computes `torch._grouped_mm` of rows in groups, (n, k) with (groups, k, m), as plain products.

    Rows behind the last offset are zeros. Other forms, and other types, are left to torch.
    """

    def __torch_function__(  # type: ignore[no-untyped-def] # as torch asks for it
        self,
        func: Callable[..., object],
        types,
        args: tuple[Any, ...] = (),
        kwargs: Mapping[str, Any] | None = None,
    ):
        """Call `func`, or compute what it would."""
        given = dict(kwargs or {})
        if func is _GROUPED and _is_plain(*args, **given):
            return _by_group(*args, **given)
        return func(*args, **given)


def _is_plain(
    rows: Tensor, groups: Tensor, offs: Tensor | None = None, *others: object, **named: object
) -> bool:
    is_wide = rows.dtype is groups.dtype is torch.float64
    is_told = any(one is not None for one in (*others, *named.values()))
    return is_wide and offs is not None and (rows.ndim, groups.ndim) == (2, 3) and not is_told


def _by_group(rows: Tensor, groups: Tensor, offs: Tensor, *_: object, **__: object) -> Tensor:
    ends: list[int] = offs.tolist()
    starts = [0, *ends[:-1]]
    pieces = [rows[start:end] @ one for start, end, one in zip(starts, ends, groups, strict=True)]
    rest = rows.new_zeros(len(rows) - ends[-1], groups.shape[-1])
    return torch.cat([*pieces, rest])
