"""Reading fixtures: expectations and examples."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.lint.fixture import Expectation, example, examples, expectations

FIXTURE = '''\
"""CL101 host-read.  # expect: CL101 "in a string"."""


def helper(x):
    return x


@torch.no_grad()
def bad_read(x):
    """Says # expect: CL101 "in a docstring"."""
    n = x.item()  # expect: CL101 "`.item()` reads"
    return int(x) + n  # expect: CL101 "`int()`"  # expect: CL401 "branch"


class BadModule(nn.Module):
    def forward(self, x):
        return x.tolist()  # expect: CL101 "`.tolist()`"


async def good_shape(x):
    return x.shape[0]  # expected to be silent
'''


def test_expectations_are_comments_in_line_order() -> None:
    assert expectations(FIXTURE) == [
        Expectation("CL101", 11, "`.item()` reads"),
        Expectation("CL101", 12, "`int()`"),
        Expectation("CL401", 12, "branch"),
        Expectation("CL101", 17, "`.tolist()`"),
    ]


@pytest.mark.parametrize(
    "comment", ["# expect CL101", "# expect: CL101", '# expect: CL1 "x"', '# expect: CL101 "x" y']
)
def test_an_expectation_that_cannot_be_read_is_an_error(comment: str) -> None:
    with pytest.raises(ValueError, match=r"^line 2: "):
        expectations(f"x = 1\ny = 2  {comment}\n")


def test_examples_are_functions_and_classes_of_that_kind() -> None:
    assert [node.name for node in examples(FIXTURE, "bad_")] == ["bad_read", "BadModule"]
    assert [node.name for node in examples(FIXTURE, "good_")] == ["good_shape"]
    assert examples(FIXTURE, "missed_") == []


def test_the_example_is_the_first_one_with_decorators_and_readable_marks(tmp_path: Path) -> None:
    path = tmp_path / "cl101_host_read.py"
    path.write_text(FIXTURE)

    assert example(path, "bad_") == (
        "@torch.no_grad()\n"
        "def bad_read(x):\n"
        '    """Says # <- CL101."""\n'
        "    n = x.item()  # <- CL101\n"
        "    return int(x) + n  # <- CL101  # <- CL401"
    )


def test_a_line_of_a_fixture_may_hold_what_ends_lines_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "cl101_host_read.py"
    path.write_text("# \f\u2028\ndef bad_read(x):\n    return x\n", encoding="utf-8")

    assert example(path, "bad_") == "def bad_read(x):\n    return x"


def test_a_fixture_without_such_an_example_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "cl101_host_read.py"
    path.write_text(FIXTURE)

    with pytest.raises(LookupError, match=r"cl101_host_read\.py has no .* named missed_"):
        example(path, "missed_")
