"""The checklist names rules and verdicts that there are, and the README leads to it."""

from __future__ import annotations

import re
from pathlib import Path

from capturelint.lint.registry import builtin_rules
from capturelint.verdict import Verdict

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "checklist.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (?!item|---)(.+) \| (.+) \| (.+) \|$", TEXT, re.MULTILINE)


def test_every_rule_it_names_exists() -> None:
    known = {entry.code for entry in builtin_rules()}
    named = set(re.findall(r"CL\d{3}", TEXT))

    assert len(named) > 25
    assert sorted(named - known) == []


def test_every_verdict_it_names_exists() -> None:
    known = {verdict.value for verdict in Verdict}
    answers = [bisect for _, _, bisect in ROWS]
    named = {word for text in answers for word in re.findall(r"`([a-z]+-[a-z-]+)`", text)}

    assert named
    assert sorted(named - known) == []


def test_every_item_has_an_answer_or_says_why_not() -> None:
    silent = re.compile(r"-( \w.+)")
    unanswered = [
        item
        for item, *answers in ROWS
        for answer in answers
        if answer.startswith("-") and not silent.fullmatch(answer)
    ]

    assert len(ROWS) > 40
    assert unanswered == []


def test_the_readme_leads_to_it() -> None:
    assert "(docs/checklist.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
