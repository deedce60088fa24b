"""Trees that lie on the host until they are wanted again."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from capturelint.debug.trees import hosted, parked
from capturelint.debug.trees.memory import storage_key
from capturelint.debug.trees.parked import Parked, back


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the moves to and from the host, with all memory of 16 bytes taken for a device's."""
    moves: list[str] = []

    def leave(memory: Tensor) -> Tensor:
        moves.append("to the host")
        return hosted.on_host(memory)

    def enter(memory: Tensor, device: torch.device) -> Tensor:
        moves.append("to the device")
        return hosted.on_device(memory, device)

    monkeypatch.setattr(parked, "is_large_on_device", lambda _, size: size >= 16)
    monkeypatch.setattr(parked, "on_host", leave)
    monkeypatch.setattr(parked, "on_device", enter)
    return moves


def test_each_storage_moves_once_each_way(moved: list[str]) -> None:
    x = torch.arange(8.0)

    tree = Parked({"whole": x, "half": x[4:], "small": torch.ones(1)}).back()

    assert moved == ["to the host", "to the device"]
    assert [one.tolist() for one in tree.values()] == [list(range(8)), [4, 5, 6, 7], [1]]


def test_what_comes_back_shares_memory_as_it_did(moved: list[str]) -> None:
    x = torch.arange(16.0).view(4, 4)

    rows, columns = Parked((x[1:3], x.t())).back()
    rows.fill_(-1.0)

    assert moved == ["to the host", "to the device"]
    assert (rows.stride(), columns.stride()) == ((4, 1), (1, 4))
    assert storage_key(rows) == storage_key(columns)
    assert columns[:, 1].tolist() == [-1.0] * 4


def test_a_view_of_much_memory_comes_back_as_aligned_as_it_was(moved: list[str]) -> None:
    x = torch.zeros(4096)

    (view,) = Parked((x[131:140],)).back()

    assert moved == ["to the host", "to the device"]
    assert view.storage_offset() * 4 % 512 == 131 * 4 % 512
    assert view.untyped_storage().nbytes() < 1024


def test_each_time_it_comes_back_anew(moved: list[str]) -> None:
    kept = Parked([torch.zeros(8)])

    kept.back()[0].fill_(1.0)

    assert kept.back()[0].tolist() == [0.0] * 8
    assert len(moved) == 3


def test_what_is_written_later_is_not_in_it(moved: list[str]) -> None:
    x = torch.zeros(8)
    kept = Parked(x)
    x.fill_(1.0)

    assert kept.back().tolist() == [0.0] * 8
    assert moved == ["to the host", "to the device"]


def test_what_is_shared_and_what_is_no_copy_is_the_same_object(moved: list[str]) -> None:
    cache = [torch.zeros(8)]
    module, parameter = nn.Linear(8, 8), nn.Parameter(torch.zeros(8))

    tree: Any = Parked({"cache": cache, "held": [module, parameter]}, shared=[cache]).back()

    assert moved == []
    assert tree["cache"] is cache
    assert tree["held"][0] is module
    assert tree["held"][1] is parameter


def test_its_size_is_that_of_the_memory_that_it_copied(moved: list[str]) -> None:
    x = torch.zeros(8)

    assert Parked((x, x[2:], torch.zeros(2, dtype=torch.int64))).size == 8 * 4 + 2 * 8
    assert len(moved) == 2


def test_conjugates_types_and_marks_come_back(moved: list[str]) -> None:
    x = torch.tensor([1j, 2j, 3j, 4j]).conj()
    x.requires_grad_()
    x.mark = "kept"  # type: ignore[attr-defined] # as libraries do

    found = Parked(x).back()

    assert moved == ["to the host", "to the device"]
    assert found.is_conj()
    assert torch.equal(found, x)
    assert (found.requires_grad, found.mark) == (True, "kept")  # type: ignore[attr-defined] # as above


def test_an_own_class_of_tensors_comes_back(moved: list[str]) -> None:
    class Own(Tensor):
        pass

    found = Parked(torch.ones(8).as_subclass(Own)).back()

    assert moved == ["to the host", "to the device"]
    assert type(found) is Own


def test_what_was_never_parked_is_itself() -> None:
    x = torch.zeros(1)

    assert back(x) is x
    assert back(Parked([1, "two"])) == [1, "two"]
