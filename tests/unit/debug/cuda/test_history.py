"""Who freed memory, told from events as `torch.cuda.memory._snapshot()` holds them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import nn

from capturelint.debug.cuda.history import freed_at, is_told
from capturelint.verdict import Place

TORCH = str(Path(nn.__file__).parent / "modules" / "module.py")
USERS = "/home/u/model.py"


def event(action: str, addr: int, size: int, *frames: tuple[str, int]) -> dict[str, Any]:
    return {
        "action": action,
        "addr": addr,
        "size": size,
        "stream": 0,
        "time_us": 1,
        "frames": [{"filename": path, "line": line, "name": "prepare"} for path, line in frames],
    }


def test_the_users_line_that_frees_the_block_around_an_address_is_told() -> None:
    events = [
        event("alloc", 4096, 512, (USERS, 1)),
        event("free_requested", 1024, 512, (USERS, 2)),
        event("free_completed", 4096, 512, (USERS, 4)),
        event("free_requested", 4096, 512, (TORCH, 9), (USERS, 3), (USERS, 30)),
        event("free_requested", 4096, 512, (USERS, 5)),
    ]

    assert freed_at(events, {4096 + 128}) == Place(USERS, 3, "prepare")
    assert freed_at(events, {4096 + 512}) is None
    assert freed_at(events, ()) is None


def test_a_free_without_a_users_frame_tells_nothing() -> None:
    without = event("free_requested", 0, 512)
    del without["frames"]

    assert freed_at([without, event("free_requested", 0, 512, (TORCH, 9))], {0}) is None


def test_this_torch_keeps_a_history_by_the_names_that_are_used() -> None:
    assert is_told()
