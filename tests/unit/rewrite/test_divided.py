"""Divisions by what was a number of the host, which a GPU rounds otherwise than those by a tensor."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

from capturelint.rewrite.patterns import branch, reading  # noqa: E402
from capturelint.rewrite.uses import DIVIDED  # noqa: E402
from tests.unit.rewrite.observing import IMPORTS, observed  # noqa: E402

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

_CHOSEN = "if t > 0:\n        k = 0.5\n    else:\n        k = 2.0\n    return"


@pytest.mark.parametrize(
    ("pattern", "body", "notes"),
    [
        (reading, "return x / t.item()", (DIVIDED,)),
        (reading, "return t.item() / x", (DIVIDED,)),
        (reading, "k = t.item()\n    return x * k, x / k", (DIVIDED,)),
        (reading, "k = t.item()\n    return (x / t) * k", ()),
        (reading, "return x * t.item() + t.item() - x.clamp(max=t.item())", ()),
        (branch, f"{_CHOSEN} x / k", (DIVIDED,)),
        (branch, f"{_CHOSEN} x * k", ()),
    ],
)
def test_a_division_by_what_was_a_number_comes_with_a_note(
    pattern: Pattern, body: str, notes: tuple[str, ...]
) -> None:
    facts = observed(f"{IMPORTS}def step(x, t):\n    {body}\n", torch.ones(3), torch.tensor(2.0))

    (site, *_) = pattern.sites(facts)
    forms = pattern.match(site, facts, "torch")
    assert isinstance(forms, tuple)
    assert forms[0].notes == notes
