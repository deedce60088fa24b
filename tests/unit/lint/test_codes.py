"""The known code nearest to an unknown one."""

from __future__ import annotations

import pytest

from capturelint.lint.codes import nearest_code

_KNOWN = ("CL000", "CL101", "CL102", "CL201")


@pytest.mark.parametrize(
    ("code", "near"), [("CL110", "CL101"), ("CL22", "CL201"), ("CL12", "CL102"), ("E501", "")]
)
def test_the_nearest_is_of_the_same_family(code: str, near: str) -> None:
    assert nearest_code(code, _KNOWN) == near


def test_of_nothing_none_is_near() -> None:
    assert nearest_code("CL101", ()) == ""
