"""Whether a name has at one place the value of another, and whether attributes of it can be read there."""

from __future__ import annotations

import libcst as cst
import pytest

from capturelint.rewrite.lasting import is_given_by, is_unchanged
from capturelint.rewrite.observation import Observation
from capturelint.rewrite.observed import Observed, function_named
from capturelint.rewrite.reaching import may_read_before
from capturelint.source import SourceFile


def _places(body: str, place: str) -> tuple[cst.SimpleStatementLine, cst.CSTNode, Observed]:
    """Return the line that begins with `p = first`, and where `place` is called with something."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = f"def step(x, y=None):\n{lines}"
    facts = Observed(function_named(text, "m.py", "step"), SourceFile.of(text), Observation())
    (line,) = (
        one
        for one in facts.nodes(cst.SimpleStatementLine)
        if isinstance(one, cst.SimpleStatementLine) and facts.text(one).startswith("p = first")
    )
    calls = (one for one in facts.nodes(cst.Call) if isinstance(one, cst.Call))
    (call,) = (one for one in calls if facts.text(one.func) == place)
    return line, call.args[0].value, facts


@pytest.mark.parametrize(
    ("body", "is_given"),
    [
        ("p = first()\nuse(p)", True),
        ("p = 0\np = first()\nuse(p)\np = 0", True),
        ("p = first()\np = use(p)", True),
        ("p = first()\nif x:\n    use(p)\n    p = 0\nelse:\n    p = 1", True),
        ("for x in y:\n    p = first()\n    use(p)\np = 0", True),
        ("with x:\n    p = first()\n    use(p)", True),
        ("p = first()\nwith y:\n    use(p)", True),
        ("p = first()\np = 0\nuse(p)", False),
        ("if x:\n    p = first()\nelse:\n    p = 0\nuse(p)", False),
        ("p = first()\nif x:\n    p = 0\nuse(p)", False),
        ("p = first()\nfor x in y:\n    use(p)\n    p = 0", False),
        ("p = first()\nwhile x:\n    use(p)\n    p += 1", False),
        ("for x in y:\n    if x:\n        use(p)\n    p = first()", False),
        ("p = first()\nwith y as p:\n    use(p)", False),
        ("p = first()\nif (p := 2):\n    use(p)", False),
        ("p = first()\nz = (p := 2) + use(p)", False),
        ("p = first(); p = 0\nuse(p)", False),
        ("p = first()\np = 0; use(p)", False),
        ("p = first()\ntry:\n    p = 0\nexcept E:\n    use(p)", False),
        ("p = first()\nf = lambda: use(p)", False),
        ("p = first()\nz = [use(p) for p in y]", False),
        ("p = first()\ndel p\nuse(p)", False),
    ],
)
def test_a_name_has_the_value_that_a_statement_gave_it(body: str, is_given: bool) -> None:
    line, place, facts = _places(body, "use")

    assert is_given_by(line, place, "p", facts) is is_given


@pytest.mark.parametrize(
    ("body", "is_same"),
    [
        ("p = first()\nuse(x)", True),
        ("x = y\np = first()\nx = use(x)\nx = 0", True),
        ("if y:\n    p = first()\nuse(x)", True),
        ("p = first(use(x))", True),
        ("x = 0\nif y:\n    p = first()\nif p:\n    use(x)", True),
        ("p = first()\nx = y\nuse(x)", False),
        ("p = first()\nif x is None:\n    x = y\nuse(x)", False),
        ("if y:\n    p = first()\n    x = 0\nuse(x)", False),
        ("if y:\n    p = first()\nx = y\nuse(x)", False),
        ("for x in y:\n    if x:\n        p = first()\n    if y:\n        use(x)", False),
        ("p = first((x := 2), use(x))", False),
        ("p = first()\nz = [use(x) for x in y]", False),
        ("try:\n    p = first()\nfinally:\n    x = 0\nuse(x)", False),
    ],
)
def test_a_name_has_the_value_that_it_had_before_a_statement(body: str, is_same: bool) -> None:
    line, place, facts = _places(body, "use")

    assert is_unchanged(line, place, "x", facts) is is_same


@pytest.mark.parametrize(
    ("body", "may_read"),
    [
        ("p = first()\nuse(y)", True),
        ("p = first()\nwith x:\n    use(y)", True),
        ("p = first(y.shape)\nif x:\n    use(y)", True),
        ("n = y.shape[0]\nif x:\n    p = first()\n    if n:\n        use(y)", True),
        ("p = first()\nif y is not None:\n    use(y)", False),
        ("p = first()\nif y is None:\n    return x\nuse(y)", False),
        ("p = first()\nif y is None:\n    raise E\nuse(y)", False),
        ("p = first()\nassert y is not None\nuse(y)", False),
        ("p = first()\nz = use(y) if y is not None else x", False),
        ("p = first()\nz = y is not None and use(y)", False),
        ("p = first()\nfor _ in x:\n    use(y)", False),
        ("p = first()\ntry:\n    use(y)\nexcept E:\n    pass", False),
        ("n = y.n if y else 0\np = first()\nif n:\n    use(y)", False),
        ("if y:\n    n = y.n\np = first()\nif x:\n    use(y)", False),
        ("n = y.n\ny = None\np = first()\nif x:\n    use(y)", False),
    ],
)
def test_an_attribute_is_read_where_it_would_be_read_anyway(body: str, may_read: bool) -> None:
    line, place, facts = _places(body, "use")

    assert may_read_before("y", line, place, facts) is may_read
