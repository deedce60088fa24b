"""Conditions that are kept in a name tell what they would tell in the test itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


def test_a_kept_condition_narrows_both_arms(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor | None, y, z):
            is_absent = x is None
            is_tensor = isinstance(y, torch.Tensor)
            is_other = torch.is_tensor(z)
            if is_absent:
                x  #: host value, = None
            else:
                x  #: device tensor, not optional
            if not is_absent:
                x  #: device tensor, not optional
            if is_tensor:
                y  #: device tensor
            else:
                y  #: unknown
            if is_other:
                z  #: device tensor
            z  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_a_kept_condition_narrows_inside_a_chain(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor | None, y: Tensor | None, n: int):
            has_x = x is not None
            has_both = has_x and y is not None
            if has_x and n:
                x  #: device tensor, not optional
            if has_both:
                x  #: device tensor, not optional
                y  #: device tensor, not optional
            if has_x or n:
                x  #: device tensor, optional
            z = x if has_x else 1
            if not has_x:
                return None
            x  #: device tensor, not optional
            y  #: device tensor, optional
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "between",
    [
        "x = other",
        "flag = n",
        "flag = n > 3",
        "flag = unheard_of()",
        "flag = flag or n",
        "x = None if n else other",
    ],
)
def test_a_kept_condition_is_dropped_when_a_name_is_bound_anew(
    between: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor | None, other: Tensor | None, n: int):
            flag = x is not None
            {between}
            if flag:
                x  #: device tensor, optional
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "between",
    [
        "x, y = other, n",
        "x: Tensor | None = other",
        "unheard_of(x := other)",
        "y = x = other",
        "y = flag = n",
        "flag |= n",
        "for flag in range(n): pass",
    ],
)
def test_a_kept_condition_is_dropped_however_a_name_is_bound(between: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor | None, other: Tensor | None, n: int):
            flag = x is not None
            {between}
            if flag:
                x  #: device tensor, optional
        """,
    )

    assert told.seen == told.wanted


def test_a_kept_condition_of_an_attribute_is_dropped_when_it_is_set(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.bias = None

            def forward(self, x: Tensor):
                is_new = self.bias is None
                self.bias = x + 1
                if is_new:
                    self.bias  #: device tensor, not optional
        """,
    )

    assert told.seen == told.wanted


def test_a_condition_kept_in_one_arm_says_nothing_after_it(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor | None, n: int):
            is_absent = False
            if n:
                is_absent = x is None
            if not is_absent:
                x  #: device tensor, optional
        """,
    )

    assert told.seen == told.wanted


def test_a_condition_is_kept_while_other_names_are_bound(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor | None, y: Tensor | None, n: int):
            flag = x is not None
            y = n
            other = y is None
            if flag:
                x  #: device tensor, not optional
        """,
    )

    assert told.seen == told.wanted


def test_a_name_made_of_its_own_value_is_no_condition(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor | None):
            x = x is not None
            if x:
                x  #: host value, not optional
        """,
    )

    assert told.seen == told.wanted
