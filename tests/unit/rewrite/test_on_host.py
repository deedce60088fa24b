"""A copy of a module on the host says whether an input fits."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402 - needs torch

from capturelint.debug.attempts.part import Call  # noqa: E402
from capturelint.rewrite.proof.on_host import OnHost  # noqa: E402


class _Table(nn.Module):
    """Counts its runs, of which a copy has its own."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = nn.Embedding(4, 2)
        self.runs = 0

    def forward(self, x: Tensor, *, shift: int = 0) -> Tensor:
        self.runs += 1
        found: Tensor = self.rows(x + shift)
        return found


class _Alone(_Table):
    def __deepcopy__(self, _: object) -> _Alone:
        raise TypeError("there is one")


def _calls(ids: list[int], shift: int = 0) -> tuple[Call, ...]:
    return (Call((torch.tensor(ids),), {"shift": shift}),)


def test_what_reads_beyond_a_table_does_not_fit() -> None:
    module = _Table()
    host = OnHost(module)

    assert host.fits(_calls([0, 3]))
    assert not host.fits(_calls([0, 4]))
    assert not host.fits(_calls([0, 3], shift=1))
    assert host.fits(_calls([1]))
    assert module.runs == 0


def test_what_has_no_copy_fits_nothing() -> None:
    assert not OnHost(_Alone()).fits(_calls([0]))
    assert not OnHost(torch.neg).fits((Call((torch.ones(1),), {}),))
