"""Comments that accept findings: what they cover, and what is said of idle ones."""

from __future__ import annotations

import textwrap
import tokenize

import pytest

from capturelint.finding import Effect, Finding, Span
from capturelint.lint.suppress import apply

_ALL = frozenset({"CL101", "CL102", "CL201"})


def _at(line: int, code: str = "CL101", *, end_line: int | None = None) -> Finding:
    span = Span(line, 4, end_line or line, 12)
    return Finding(code, "host-read", (Effect.REFUSES,), "reads", "m.py", span)


def _left(
    text: str,
    *findings: Finding,
    active: frozenset[str] = _ALL,
    require_reason: bool = False,
) -> list[tuple[int, str, str]]:
    """Return line, code and, of CL002, the message of what is left in the dedented `text`."""
    text = textwrap.dedent(text)
    left = apply(findings, text, path="m.py", require_reason=require_reason, active=active)
    return [(f.span.line, f.code, f.message if f.code == "CL002" else "") for f in left]


@pytest.mark.parametrize(
    "comment",
    [
        "# capturelint: ignore[CL101] small tensor",
        "#capturelint:ignore[CL101]",
        "# capturelint: ignore[cl102, CL101]",
        "# capturelint: ignore[CL1]",
        "# capturelint: ignore[host-read] small tensor",
        "# capturelint: ignore[host-copy, Host-Read]",
        "# Capturelint: ignore[CL101]",
        "# CaptureLint: ignore[CL101]",
        "# CAPTURELINT: ignore[CL101]",
        "# capturelint: ignore",
        "# capturelint: ignore as it is warm-up",
        "# type: ignore  # capturelint: ignore[CL101]",
        "# noqa",
        "# NOQA: cl101",
        "# noqa : E501,CL101",
        "# noqa: E501 CL101 because",
        "# a word first  # noqa: CL1",
    ],
)
def test_a_comment_on_the_line_accepts_a_finding(comment: str) -> None:
    active = frozenset({"CL101"})

    assert _left(f"n = x.item()  {comment}\n", _at(1), active=active) == []


@pytest.mark.parametrize(
    "comment",
    [
        "# noqa: E501",
        "# noqa: CL3",
        "# noqable",
        "# spoken of: `# capturelint: ignore[CL101]`",
        "# capturelint ignore[CL101]",
        "; s = '# noqa'",
        "; s = '# capturelint: ignore[CL101]'",
    ],
)
def test_another_comment_accepts_nothing(comment: str) -> None:
    assert _left(f"n = x.item()  {comment}\n", _at(1)) == [(1, "CL101", "")]


def test_a_comment_accepts_only_its_own_line() -> None:
    text = """\
        a = x.item()
        b = x.item()  # noqa: CL101
        c = x.item()
    """

    assert _left(text, _at(1), _at(2), _at(3)) == [(1, "CL101", ""), (3, "CL101", "")]


@pytest.mark.parametrize(("line", "left"), [(1, 0), (2, 2), (3, 0)])
def test_first_and_last_line_of_a_finding_count(line: int, left: int) -> None:
    lines = ["n = int(", "    x", ")"]
    lines[line - 1] += "  # noqa: CL101"

    assert len(_left("\n".join(lines), _at(1, end_line=3))) == left


@pytest.mark.parametrize(
    "comment", ["# noqa: CL101", "# capturelint: ignore[CL101]", "# capturelint: ignore[host-read]"]
)
@pytest.mark.parametrize(
    "text",
    [
        "f(\n    x.item(),\n    1,\n)  {}",
        "n = f(\n    x.item(),\n) + g(\n    1,\n)  {}",
        "n = [\n    f(\n        x.item(),\n    ),  {}\n    1,\n]",
        "n = [\n    f(\n        x.item(),\n    ), g(1),  {}\n    2,\n]",
        "n = 1 + \\\n    x.item() + \\\n    2  {}",
        "f(\n    x.item(), '''\n    )\n''')  {}",
        "if (\n    x.item()\n):  {}\n    pass",
    ],
)
def test_behind_the_last_line_of_a_statement_or_of_brackets_it_covers_these(
    comment: str, text: str
) -> None:
    line = next(n for n, one in enumerate(text.split("\n"), start=1) if "x.item()" in one)

    assert _left(text.format(comment), _at(line)) == []


@pytest.mark.parametrize(
    "text",
    [
        "n = [\n    x.item(),\n    f(\n        1,\n    ),  {}\n]",
        "if (\n    x\n):  {}\n    y.item(); x.item()",
        "x.item()\nf(\n    1,\n)  {}",
        "f(\n    x.item(),\n    1,  {}\n)",
    ],
)
def test_what_ends_elsewhere_is_not_covered(text: str) -> None:
    line = next(n for n, one in enumerate(text.split("\n"), start=1) if "x.item()" in one)

    assert _left(text.format("# noqa: CL101"), _at(line), active=frozenset()) == [
        (line, "CL101", "")
    ]


def test_a_comment_above_covers_the_whole_block() -> None:
    text = """\
        # capturelint: ignore[CL101] runs before capture
        @torch.no_grad()
        def prepare(x):
            a = x.item()

            return x.item()
        n = x.item()
    """

    assert _left(text, _at(4), _at(6), _at(7)) == [(7, "CL101", "")]


def test_a_comment_below_a_decorator_covers_the_function() -> None:
    text = """\
        @torch.no_grad()
        # capturelint: ignore[CL101] runs before capture
        def prepare(x):
            return x.item()
    """

    assert _left(text, _at(4)) == []


def test_other_comments_may_stand_between() -> None:
    text = """\
        if x:
            # capturelint: ignore[CL101] warm-up
            # and more words
            with y:
                n = x.item()
            n = x.item()
    """

    assert _left(text, _at(5), _at(6)) == [(6, "CL101", "")]


def test_a_comment_above_covers_both_arms_of_a_branch() -> None:
    text = """\
        # capturelint: ignore[CL101] warm-up
        if x: a = 1
        else:
            a = x.item()
    """

    assert _left(text, _at(4)) == []


def test_a_comment_above_one_line_of_a_statement_covers_that_line() -> None:
    text = """\
        f(
            # capturelint: ignore[CL101] once
            x.item(),
            x.item(),
        )
    """

    assert _left(text, _at(3), _at(4)) == [(4, "CL101", "")]


def test_noqa_alone_on_a_line_covers_nothing_below() -> None:
    left = [(1, "CL002", "`noqa: CL101` accepts nothing here"), (2, "CL101", "")]

    assert _left("# noqa: CL101\nn = x.item()\n", _at(2)) == left


def test_an_unread_file_cannot_be_accepted() -> None:
    assert _left("f(  # noqa\n", _at(1, "CL000")) == [(1, "CL000", "")]


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("ignore[CL101]", "`capturelint: ignore[CL101]` accepts nothing here"),
        ("ignore[CL101, CL201]", "`capturelint: ignore[CL101, CL201]` accepts nothing here"),
        ("ignore[CL102, CL201]", "`capturelint: ignore[CL201]` accepts nothing here"),
        ("ignore[]", "`capturelint: ignore` accepts nothing; write the code as `ignore[CL101]`"),
        *(
            (
                comment,
                "`capturelint: ignore` accepts nothing; write the code as `ignore[CL101]`",
            )
            for comment in (
                "ignore host-copy",
                "ignore CL102",
                "ignore=cl102",
                "ignore(CL102)",
                "ignore[CL102",
            )
        ),
        ("ignore[CL110]", "`capturelint: ignore[CL110]` names no rule; did you mean `CL101`?"),
        ("ignore[host-read]", "`capturelint: ignore[host-read]` accepts nothing here"),
        (
            "ignore[Host-raed]",
            "`capturelint: ignore[Host-raed]` names no rule; did you mean `host-read`?",
        ),
        ("ignore[cl110]", "`capturelint: ignore[cl110]` names no rule; did you mean `CL101`?"),
        (
            "ignore[CL102, F841]",
            "`capturelint: ignore[F841]` names no rule; `capturelint rule --all` lists them",
        ),
    ],
)
def test_an_idle_comment_is_reported(comment: str, message: str) -> None:
    left = _left(f"n = x.cpu()  # capturelint: {comment}\n", _at(1, "CL102"))

    assert (1, "CL002", message) in left


def test_an_idle_comment_for_everything_is_reported() -> None:
    assert _left("n = 1  # capturelint: ignore\n") == [
        (1, "CL002", "`capturelint: ignore` accepts nothing here")
    ]


def test_the_report_points_at_the_comment() -> None:
    text = "é = 1  # type: int  # capturelint: ignore[CL101] why \n"

    found = apply([], text, path="m.py", require_reason=False, active=_ALL)

    assert found == [
        Finding(
            "CL002",
            "idle-comment",
            (),
            "`capturelint: ignore[CL101]` accepts nothing here",
            "m.py",
            Span(1, 20, 1, 52),
            source="é = 1  # type: int  # capturelint: ignore[CL101] why ",
        )
    ]


@pytest.mark.parametrize(
    "comment", ["ignore[CL0]", "ignore[CL002]", "ignore[CL1]", "ignore[CL801]"]
)
def test_codes_of_rules_that_are_off_and_own_codes_are_known(comment: str) -> None:
    assert _left(f"n = 1  # capturelint: {comment}\n", active=frozenset()) == []


def test_a_rule_that_was_not_asked_for_is_known_when_it_is_named() -> None:
    text = "n = 1  # capturelint: ignore[XY1]\n"

    left = apply([], text, path="m.py", require_reason=False, active=_ALL, known={"XY101": "poke"})

    assert left == []


_MEANT = "`capturelint: {}` is not understood; did you mean `{}`?"


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("captred", _MEANT.format("captred", "captured")),
        ("Captured", _MEANT.format("Captured", "captured")),
        ("graph", _MEANT.format("graph", "captured")),
        ("Eager mode", _MEANT.format("Eager", "eager")),
        ("not-captured", _MEANT.format("not-captured", "eager")),
        ("disable[CL101]", _MEANT.format("disable", "ignore[CL101]")),
        ("noqa", _MEANT.format("noqa", "ignore[CL101]")),
        ("ignored", _MEANT.format("ignored", "ignore[CL101]")),
        ("IGNORE[CL101]", _MEANT.format("IGNORE", "ignore[CL101]")),
        ("ignore-file", _MEANT.format("ignore-file", "ignore[CL101]")),
        (
            "xyz",
            "`capturelint: xyz` is not understood; write `ignore[CL101]`, `captured`, `eager` or `step`",
        ),
        ("", "`capturelint:` says nothing; write `ignore[CL101]`, `captured`, `eager` or `step`"),
    ],
)
def test_a_comment_that_is_not_understood_is_reported_and_does_nothing(
    comment: str, message: str
) -> None:
    text = f"# capturelint: {comment}\ndef f(x):\n    return x.item()\n"

    assert _left(text, _at(3)) == [(1, "CL002", message), (3, "CL101", "")]


@pytest.mark.parametrize("word", ["captured", "eager"])
@pytest.mark.parametrize(
    "text",
    [
        "{}\n\nimport torch\n\ndef f(): pass\n",
        "def f():\n    pass\n    {}\n\ndef g(): pass\n",
        "n = 1  {}\ndef f(): pass\n",
        "def f():\n    n = 1\n    {}\n    return n\n",
        "{}\n",
    ],
)
def test_a_mark_without_a_definition_is_reported(word: str, text: str) -> None:
    text = text.format(f"# capturelint: {word}")

    line = next(n for n, line in enumerate(text.split("\n"), start=1) if word in line)
    message = f"`capturelint: {word}` marks nothing; write it above a `def` or `class`"
    assert _left(text) == [(line, "CL002", message)]


def test_of_two_marks_the_one_further_away_is_reported() -> None:
    text = "# capturelint: eager\n# capturelint: captured\ndef f(): pass\n"

    assert [line for line, *_ in _left(text)] == [1]


def test_marks_in_use_and_their_neighbours_are_silent() -> None:
    text = """\
        # capturelint: captured  # capturelint: ignore[CL101] measured
        # words
        @wrap
        class Model:
            # capturelint: eager
            def f(self, x): # capturelint: ignore[CL101] warm-up
                return x.item()
        n = "# capturelint: captred"
    """

    assert _left(text, _at(6), _at(7)) == []


@pytest.mark.parametrize("active", [frozenset({"CL201"}), frozenset[str]()])
def test_what_was_not_looked_for_is_not_idle(active: frozenset[str]) -> None:
    assert _left("n = 1  # capturelint: ignore[CL101]\n", active=active) == []


@pytest.mark.parametrize(
    ("comment", "message"),
    [
        ("noqa: CL101", "`noqa: CL101` accepts nothing here"),
        ("NOQA: E501, cl101", "`noqa: cl101` accepts nothing here"),
        ("noqa: CL1", "`noqa: CL1` accepts nothing here"),
        ("noqa: CL991", "`noqa: CL991` names no rule; did you mean `CL901`?"),
    ],
)
def test_an_idle_code_of_ours_after_noqa_is_reported(comment: str, message: str) -> None:
    assert _left(f"n = 1  # {comment}\n") == [(1, "CL002", message)]


@pytest.mark.parametrize(
    "comment", ["noqa", "noqa: E501", "noqa: CLB101", "noqa: PLR2004, C901", "say `# noqa: CL101`"]
)
def test_what_other_tools_read_after_noqa_is_theirs(comment: str) -> None:
    text = f"n = 1  # {comment}\nm = x.item()\n"

    assert _left(text, _at(2)) == [(2, "CL101", "")]


def test_a_code_after_noqa_that_was_not_looked_for_is_not_idle() -> None:
    assert _left("n = 1  # noqa: CL101\n", active=frozenset({"CL201"})) == []


def test_a_code_in_use_after_noqa_leaves_the_others_idle() -> None:
    text = "m = x.item()  # noqa: CL101, CL201\n"

    assert _left(text, _at(1)) == [(1, "CL002", "`noqa: CL201` accepts nothing here")]


def test_two_comments_on_one_finding_are_both_in_use() -> None:
    text = """\
        # capturelint: ignore[CL101] block
        def f(x):
            return x.item()  # capturelint: ignore[CL101] line
    """

    assert _left(text, _at(3)) == []


@pytest.mark.parametrize(
    ("comment", "count"), [("ignore[CL101]", 1), ("ignore[CL101] warm", 0), ("ignore", 1)]
)
def test_a_missing_reason_is_reported_where_one_is_required(comment: str, count: int) -> None:
    text = f"n = x.item()  # capturelint: {comment}\n"

    assert (
        _left(text, _at(1), require_reason=True)
        == [(1, "CL002", "`capturelint: ignore` gives no reason; write it after the brackets")]
        * count
    )


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_line_end_counts_as_python_counts_it(end: str) -> None:
    text = end.join(["a = '\x0c\u2028'", "b = x.item()  # noqa: CL101", "c = x.item()", ""])

    assert _left(text, _at(2), _at(3)) == [(3, "CL101", "")]


def test_a_text_without_such_comments_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenize, "generate_tokens", None)

    assert _left("n = x.item()  # a comment\n", _at(1)) == [(1, "CL101", "")]
    assert _left("n = x.item()  # noqa\n") == []


def test_a_text_that_cannot_be_read_keeps_its_findings() -> None:
    text = "def f(:\n  '''  # noqa\n  # capturelint: ignore\n"

    assert (1, "CL101", "") in _left(text, _at(1))
