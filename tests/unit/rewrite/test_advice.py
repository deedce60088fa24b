"""What is said of lines that go stale."""

from __future__ import annotations

import pytest

from capturelint.finding import Effect
from capturelint.rewrite.advice import STALE, on_stale
from capturelint.verdict import Certainty, Culprit, Evidence, Frozen, Place

PLACE = Place("m.py", 3, "forward", "y = x * self.step")


def _said(name: str, before: str, after: str, source: str = "", change: str = "") -> str:
    cause = Place("m.py", 4, "forward", source) if source else None
    frozen = Frozen(PLACE, "aten.mul.Tensor", before, after, cause, name)
    evidence = Evidence(frozen=(frozen,), changes=(change,))
    given = ("", "Model", PLACE, "aten.mul.Tensor", Effect.STALE, Certainty.SHOWN, "")
    return on_stale(Culprit(*given, evidence=evidence))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("self.step", "4", "5", "self.step += 1"), "make it a buffer of one element"),
        (("self.pos", "tensor of shape (1, 3) at offset 9", "tensor of shape (1, 3) at offset 12",
          "self.pos += 1"), "hold the position in a tensor"),
        (("self.pe", "tensor of shape (4, 3)", "tensor of shape (5, 3)"), "make it as large as it may"),
        (("random", "0.1", "0.7", "p = random.random()", "random: host random numbers"), "draw on the device"),
    ],
)  # fmt: skip
def test_what_goes_stale_comes_with_what_to_do_by_hand(given: tuple[str, ...], words: str) -> None:
    assert _said(*given).startswith(f"{STALE}; {words}")


@pytest.mark.parametrize(
    "given",
    [
        ("self.flag", "True", "False"),
        ("step", "4", "5", "step += 1"),
        ("self.t", "tensor of shape (4,)", "another tensor of shape (4,)"),
    ],
)
def test_of_anything_else_nothing_is_advised(given: tuple[str, ...]) -> None:
    assert _said(*given) == STALE
