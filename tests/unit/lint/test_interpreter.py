"""What a check asks of the interpreter."""

from __future__ import annotations

import gc
import sys

import pytest

from capturelint.lint.interpreter import with_arenas, with_room, without_collection


def test_work_with_room_gives_what_it_gives_without() -> None:
    def depth(n: int) -> int:
        return n and 1 + depth(n - 1)

    assert with_room(lambda: depth(300)) == 300
    with pytest.raises(ZeroDivisionError):
        with_room(lambda: 1 // 0)


def test_the_collector_comes_back_where_it_was_on() -> None:
    with without_collection():
        assert not gc.isenabled()
        with without_collection():
            pass
        assert not gc.isenabled()

    assert gc.isenabled()


def test_arenas_are_held_by_few_objects_and_no_longer_than_asked() -> None:
    before = sys.getallocatedblocks()
    with with_arenas():
        held = sys.getallocatedblocks() - before

    assert 16 <= held < 100
    assert sys.getallocatedblocks() - before < 16
