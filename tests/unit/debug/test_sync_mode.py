"""The debug mode is set for a while, put back, and nobody is told that it is a prototype."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import pytest
import torch

from capturelint.debug.sync_mode import OnSync, on_sync


@dataclass(slots=True)
class _Torch:
    """Stands in for torch with CUDA: warns at each change, as torch does at the first."""

    mode: int = 0
    changes: list[int] = field(default_factory=list)

    def set(self, mode: int) -> None:
        """Change the mode."""
        warnings.warn("a prototype feature", stacklevel=2)
        self.mode = mode
        self.changes.append(mode)


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> _Torch:
    made = _Torch()
    names = {"get": lambda: made.mode, "set": made.set}
    for name, function in names.items():
        monkeypatch.setattr(torch._C, f"_cuda_{name}_sync_debug_mode", function, raising=False)  # noqa: SLF001
    return made


def test_the_mode_holds_inside_and_is_put_back(cuda: _Torch) -> None:
    with on_sync(OnSync.RAISE):
        inside = cuda.mode

    assert (inside, cuda.mode) == (2, 0)


def test_the_mode_is_put_back_when_code_raises(cuda: _Torch) -> None:
    with pytest.raises(ZeroDivisionError), on_sync(OnSync.RAISE):
        _ = 1 / 0

    assert cuda.changes == [2, 0]


def test_a_mode_that_is_set_already_is_not_set_again(cuda: _Torch) -> None:
    with on_sync(OnSync.NOTHING):
        pass

    assert cuda.changes == []


def test_what_code_inside_sets_is_put_back_too(cuda: _Torch) -> None:
    with on_sync(OnSync.NOTHING):
        cuda.mode = 1

    assert cuda.mode == 0


def test_nothing_happens_where_torch_has_no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("get", "set"):
        monkeypatch.delattr(torch._C, f"_cuda_{name}_sync_debug_mode", raising=False)  # noqa: SLF001
    with on_sync(OnSync.RAISE):
        found = hasattr(torch._C, "_cuda_set_sync_debug_mode")  # noqa: SLF001

    assert not found
