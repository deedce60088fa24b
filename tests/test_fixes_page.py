"""The page on fixes: each row of its table is what the fixer does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from capturelint.rewrite.mend import PATTERNS
from tests.unit.rewrite.functions import IMPORTS, fixed, found

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "fixes.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (CL\d{3}) \| `(.*)` \| `(.*)` \| (\w+) \|$", PAGE, flags=re.MULTILINE)
HEAD = f"{IMPORTS}def step(x: Tensor, a: Tensor, b: Tensor) -> Tensor:\n    idx = x.argmax(0)\n"


def _program(code: str) -> str:
    code = re.sub(r"\bd\b", "x.device", code)
    line = code if " = " in code or "fill_" in code else f"x = x + ({code})"
    return f"{HEAD}    {line}\n    return x\n"


@pytest.mark.parametrize(("code", "old", "new", "grade"), ROWS)
def test_a_row_of_the_table_is_what_the_fixer_does(
    code: str, old: str, new: str, grade: str
) -> None:
    findings = found(_program(old))

    assert [(one.code, one.fix.grade) for one in findings if one.fix] == [(code, grade)]
    assert fixed(_program(old)) == _program(new)
    assert [one.fix for one in found(_program(new)) if one.fix] == []


def test_every_code_with_a_pattern_is_on_the_page() -> None:
    codes = {code for pattern in PATTERNS for code in pattern.CODES}

    assert ROWS
    assert codes == set(re.findall(r"CL\d{3}", PAGE))


def test_the_readme_leads_to_the_page() -> None:
    assert "(docs/fixes.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
