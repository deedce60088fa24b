"""What is free of the device's memory, by what its allocator tells."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from capturelint.debug.cuda import unowned
from capturelint.debug.cuda.unowned import Range, UnownedMemory, free

POOL, ORDINARY, OTHER = (0, 7), (0, 0), (3, 0)


def segment(address: int, pool: tuple[int, int], *blocks: tuple[int, str]) -> dict[str, Any]:
    return {
        "device": 0,
        "address": address,
        "segment_pool_id": pool,
        "blocks": [{"size": size, "state": state} for size, state in blocks],
    }


SEGMENTS = [
    segment(1000, ORDINARY, (64, "active_allocated"), (32, "inactive"), (8, "inactive")),
    segment(2000, POOL, (16, "inactive"), (16, "active_allocated"), (64, "inactive")),
    segment(3000, OTHER, (64, "inactive")),
    segment(4000, ORDINARY, (16, "active_pending_free")),
]


@pytest.fixture(autouse=True)
def device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: None)
    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: SEGMENTS)


def test_only_blocks_that_nothing_may_still_use_are_free_those_of_the_pool_first() -> None:
    assert free(SEGMENTS, POOL) == [
        *(Range(2000, 16), Range(2032, 64)),
        *(Range(1096, 8), Range(1064, 32)),
    ]


def test_what_is_free_on_another_device_is_left_alone() -> None:
    assert free([{**one, "device": 1} for one in SEGMENTS], POOL) == []


def test_no_more_is_written_over_than_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unowned, "_MOST", 90)

    assert [one.size for one in free(SEGMENTS, POOL)] == [16, 64, 8]


@pytest.mark.parametrize(
    ("other", "shared"),
    [
        (Range(0, 10), []),
        (Range(10, 10), [Range(10, 10)]),
        (Range(0, 15), [Range(10, 5)]),
        (Range(12, 4), [Range(12, 4)]),
        (Range(19, 10), [Range(19, 1)]),
        (Range(20, 10), []),
    ],
)
def test_what_two_ranges_share(other: Range, shared: list[Range]) -> None:
    assert Range(10, 10).within([other]) == shared


def test_what_was_taken_meanwhile_is_not_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    device = torch.arange(40, dtype=torch.uint8)
    now = [segment(0, POOL, (10, "active_allocated"), (20, "inactive"), (10, "active_allocated"))]
    taken = [segment(0, POOL, (15, "active_allocated"), (5, "inactive"), (20, "active_allocated"))]
    monkeypatch.setattr(unowned, "_at", lambda one: device[one.address : one.address + one.size])
    memory = UnownedMemory(POOL)

    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: now)
    memory.fill(0xFF)
    filled = device.tolist()
    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: taken)
    memory.restore()

    assert filled == [*range(10), *[0xFF] * 20, *range(30, 40)]
    assert device.tolist() == [
        *range(10),
        *[0xFF] * 5,
        *range(15, 20),
        *[0xFF] * 10,
        *range(30, 40),
    ]


def test_what_was_kept_first_is_put_back_after_several_fills(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    device = torch.arange(8, dtype=torch.uint8)
    monkeypatch.setattr(unowned, "_at", lambda one: device[one.address : one.address + one.size])
    monkeypatch.setattr(torch.cuda, "memory_snapshot", lambda: [segment(0, POOL, (8, "inactive"))])
    memory = UnownedMemory(POOL)
    for byte in (0, 0xFF):
        memory.fill(byte)
    memory.restore()

    assert device.tolist() == list(range(8))
