"""Every built-in rule against its fixture. Adding a rule adds its tests here by itself."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from capturelint.bundle import bundled
from capturelint.config import Config, Scope
from capturelint.lint.engine import check
from capturelint.lint.fixture import Example, examples, expectations
from capturelint.lint.registry import RuleEntry, builtin_rules
from capturelint.operations import OPERATIONS

RULES = builtin_rules()
CODES = [entry.code for entry in RULES]


@pytest.fixture(params=RULES, ids=CODES)
def entry(request: pytest.FixtureRequest) -> RuleEntry:
    chosen: RuleEntry = request.param
    return chosen


@pytest.fixture
def text(entry: RuleEntry) -> str:
    return entry.fixture.read_text(encoding="utf-8")


def test_reports_the_marked_lines_and_no_others(entry: RuleEntry, text: str) -> None:
    config = Config(root=bundled("fixtures"), scope=Scope.ALL, preset=())
    found = check([entry.fixture], config, [entry]).findings
    wanted = expectations(text)

    assert [(f.code, f.span.line) for f in found] == [(w.rule, w.line) for w in wanted]
    for finding, want in zip(found, wanted, strict=True):
        assert want.words in finding.message
        # Findings are kept from run to run and move with their lines; a number in words would not.
        assert not re.search(r"\blines? \d", finding.message)


def test_every_bad_example_leads_to_a_marked_line(text: str) -> None:
    marked = {node.name for node in examples(text, "") if _lines(node) & _marked_lines(text)}
    bad = examples(text, "bad_")

    # The mark may be in a helper that the example calls.
    assert [node.name for node in bad if not marked & {node.name, *_names_in(node)}] == []


def test_no_good_or_missed_example_has_a_marked_line(text: str) -> None:
    silent = [*examples(text, "good_"), *examples(text, "missed_")]

    assert [node.name for node in silent if _lines(node) & _marked_lines(text)] == []


def test_near_misses_are_not_fewer_than_hits(text: str) -> None:
    good, bad = examples(text, "good_"), examples(text, "bad_")

    assert len(good) >= len(bad) >= 1


def test_the_file_is_named_after_code_and_rule(entry: RuleEntry) -> None:
    about = entry.rule.about

    assert entry.path.stem == f"{about.code.lower()}_{about.name.replace('-', '_')}"
    assert re.fullmatch(r"CL\d{3}", about.code)


def test_the_page_says_why_and_what_instead(entry: RuleEntry) -> None:
    headings = [line for line in entry.page.splitlines() if line.startswith("#")]

    assert headings == ["## Why capture cares", "## What to do instead"]
    assert not entry.page.startswith("#")


def test_the_rule_states_an_effect_and_a_release(entry: RuleEntry) -> None:
    about = entry.rule.about

    assert about.effects
    assert len(set(about.effects)) == len(about.effects)
    assert re.fullmatch(r"\d+\.\d+", about.since)


def test_the_rule_declares_what_triggers_it(entry: RuleEntry) -> None:
    triggers = entry.rule.triggers

    assert triggers.names or triggers.traits


def test_codes_and_names_are_unique() -> None:
    names = [entry.rule.about.name for entry in RULES]

    assert CODES
    assert len(set(CODES)) == len(CODES)
    assert len(set(names)) == len(names)


def test_every_fixture_belongs_to_a_rule() -> None:
    stems = {path.name.split(".")[0] for path in bundled("fixtures").glob("*.py")}

    assert stems == {entry.path.stem for entry in RULES}


def test_every_operation_names_a_rule_that_exists() -> None:
    named = {row.rule for row in OPERATIONS if row.rule}

    assert named
    assert sorted(named - set(CODES)) == []


def test_a_rule_folder_holds_only_rules() -> None:
    others = [path.name for path in bundled("rules").glob("*.py") if not _is_rule_file(path)]

    assert others == ["__init__.py"]


def _is_rule_file(path: Path) -> bool:
    return re.fullmatch(r"cl\d{3}_\w+\.py", path.name) is not None


def _marked_lines(text: str) -> set[int]:
    return {want.line for want in expectations(text)}


def _lines(node: Example) -> set[int]:
    assert node.end_lineno is not None
    return set(range(node.lineno, node.end_lineno + 1))


def _names_in(node: Example) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
