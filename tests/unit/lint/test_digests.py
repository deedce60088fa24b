"""Digests of the examples of a fixture: what changes them, and what does not."""

from __future__ import annotations

from capturelint.lint.fixture import digests

FIXTURE = """
def inputs():
    return (1,)


def _half(x):
    return x / 2


def bad_poke(x):
    return _half(poke(x))  # expect: CL101 "pokes"


def good_look(x):
    return look(x)
"""


def changed(old: str, new: str) -> set[str]:
    """Return the names whose digest differs once `old` is `new`."""
    assert old in FIXTURE
    before, after = digests(FIXTURE), digests(FIXTURE.replace(old, new))
    return {name for name in before if before[name] != after[name]}


def test_an_example_changes_with_its_source() -> None:
    assert changed("look(x)\n", "look(x, 1)\n") == {"good_look"}


def test_an_example_changes_with_what_it_uses() -> None:
    assert changed("x / 2", "x / 3") == {"_half", "bad_poke"}


def test_every_example_changes_with_its_inputs() -> None:
    assert changed("return (1,)", "return (2,)") == {"inputs", "_half", "bad_poke", "good_look"}


def test_what_a_fixture_expects_does_not_change_its_examples() -> None:
    assert changed('  # expect: CL101 "pokes"', '  # expect: CL101 "other words"') == set()


def test_where_an_example_stands_does_not_change_it() -> None:
    assert digests("\n\n" + FIXTURE) == digests(FIXTURE)


def test_a_class_is_an_example_with_its_decorators() -> None:
    before = digests("@one\nclass BadPart:\n    x = 1\n")
    after = digests("@two\nclass BadPart:\n    x = 1\n")

    assert before.keys() == {"BadPart"}
    assert before != after
