"""Releases of torch are read as people write them, and ranges hold what they say."""

from __future__ import annotations

import pytest

from capturelint.operations import OPERATIONS
from capturelint.release import NEWEST, OLDEST, Release, is_in, release_of


@pytest.mark.parametrize("text", ["2.11", "2.11.0", "2.11.1+cu130", " 2.11 "])
def test_a_release_is_its_first_two_numbers(text: str) -> None:
    assert release_of(text) == Release(2, 11)


@pytest.mark.parametrize(
    "text", ["", "2", "v2.11", "2.11 or later", "2.x", "1.13", "2.5", "9.0", "2.٣"]
)
def test_what_is_no_known_release_is_none(text: str) -> None:
    assert release_of(text) is None


def test_a_range_holds_its_first_release_and_not_its_end() -> None:
    held = [minor for minor in range(16) if is_in(Release(2, minor), ">=2.6,<2.14")]

    assert held == list(range(6, 14))


def test_some_row_holds_for_every_release_and_some_rows_do_not() -> None:
    for release in (OLDEST, NEWEST):
        assert any(row.holds_for(release) for row in OPERATIONS)
        assert not all(row.holds_for(release) for row in OPERATIONS)
