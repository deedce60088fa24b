"""One field of a mapping of which nothing is known says nothing of its others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


@pytest.mark.parametrize("holder", ["group", "self.fields", "x.group"])
def test_another_field_than_the_one_set_is_not_known(tmp_path: Path, holder: str) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(self, x: Tensor, group):
            {holder}["step"] = x.sum()
            {holder}["flag"]  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_the_field_that_was_set_is_what_it_was_set_to(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, group, name):
            group["step"] = x.sum()
            group["count"] = 3
            group["step"]  #: device tensor, rank 0
            group['count']  #: host value, = 3
            group[name]  #: unknown
            if name:
                group["count"] = 4
            group["count"]  #: host value
            group = name
            group["step"]  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_a_field_set_for_one_item_of_a_loop_is_not_that_of_the_next(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, groups):
            for group in groups:
                group["step"]  #: unknown
                group["step"] = x.sum()
                group["step"]  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_items_under_other_keys_tell_what_a_container_holds(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, rows, name):
            rows[name] = x.sum()
            rows[0]  #: device tensor
        """,
    )

    assert told.seen == told.wanted
