"""Loading rule files, built-in and the user's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.errors import (
    BadRuleFileError,
    EmptyRuleFolderError,
    MissingRuleFolderError,
    UnknownRuleError,
)
from capturelint.lint.registry import all_rules, builtin_rules, find_rule, load_rules

RULE = '''\
"""Calling `poke` is wrong.

## Why capture cares

It pokes.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rule import About, Effect, Rule, Triggers, names


class Poke(Rule):
    about = About(code="CL991", name="poke", effects=(Effect.SLOW,), since="0.1")
    triggers = Triggers(names=names(["poke"]))
'''


def rule_folder(place: Path, **files: str) -> Path:
    folder = place / "rules"
    folder.mkdir()
    for stem, text in files.items():
        (folder / f"{stem}.py").write_text(text)
    return folder


def test_a_rule_file_gives_rule_page_and_fixture(tmp_path: Path) -> None:
    folder = rule_folder(tmp_path, cl991_poke=RULE, notes="1 / 0")

    (entry,) = load_rules(folder)

    assert entry.code == "CL991"
    assert entry.page == "Calling `poke` is wrong.\n\n## Why capture cares\n\nIt pokes."
    assert entry.path == folder / "cl991_poke.py"
    assert entry.fixture == tmp_path / "fixtures" / "cl991_poke.py"
    assert entry.fixed == tmp_path / "fixtures" / "cl991_poke.fixed.py"


def test_all_rules_are_the_built_in_ones_and_the_users_in_order_of_code(tmp_path: Path) -> None:
    folder = rule_folder(tmp_path, cl991_poke=RULE.replace("CL991", "CL000"))

    codes = [entry.code for entry in all_rules([folder])]

    assert codes == ["CL000", *(entry.code for entry in builtin_rules())]


def test_a_code_that_is_taken_is_an_error_naming_both_files(tmp_path: Path) -> None:
    folder = rule_folder(tmp_path, cl991_poke=RULE, cl992_poke=RULE)

    with pytest.raises(
        BadRuleFileError, match=r"cl992_poke\.py has the code CL991 of .*cl991_poke"
    ):
        all_rules([folder])


def test_a_rule_is_found_by_code_in_any_case(tmp_path: Path) -> None:
    entries = load_rules(rule_folder(tmp_path, cl991_poke=RULE))

    assert find_rule("cl991", entries) is entries[0]


def test_a_rule_is_found_by_name_in_any_case(tmp_path: Path) -> None:
    entries = load_rules(rule_folder(tmp_path, cl991_poke=RULE))

    assert find_rule("Poke", entries) is entries[0]
    with pytest.raises(UnknownRuleError, match=r"no rule 'pok'; did you mean poke\?"):
        find_rule("pok", entries)


def test_a_folder_without_a_rule_file_is_an_error(tmp_path: Path) -> None:
    folder = rule_folder(tmp_path, my001_poke=RULE)

    with pytest.raises(EmptyRuleFolderError, match=r"no rule file \(`cl\*\.py`\) in .*rules"):
        all_rules([folder])


def test_of_an_unknown_code_the_nearest_is_named(tmp_path: Path) -> None:
    entries = load_rules(rule_folder(tmp_path, cl991_poke=RULE))

    with pytest.raises(UnknownRuleError, match=r"no rule 'CL919'; did you mean CL991\?"):
        find_rule("CL919", entries)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (RULE.replace("class Poke(Rule)", "class Poke"), "defines 0 rules, not one"),
        (RULE + "\n\nclass Prod(Poke):\n    pass\n", "defines 2 rules, not one"),
        ("x = 1\n" + RULE.replace("from __future__ import annotations\n", ""), "has no docstring"),
        (RULE.replace("    triggers =", "    other ="), "has a rule without `triggers`"),
        (RULE.replace("    about =", "    other ="), "has a rule without `about`"),
        (RULE + "\n1 / 0\n", "cannot be imported: ZeroDivisionError: division by zero"),
        ("def f(:\n", "cannot be imported: SyntaxError: "),
    ],
)
def test_a_file_that_does_not_hold_one_documented_rule_is_an_error(
    tmp_path: Path, text: str, problem: str
) -> None:
    folder = rule_folder(tmp_path, cl991_poke=text)

    with pytest.raises(BadRuleFileError) as caught:
        load_rules(folder)
    assert str(caught.value).startswith(f"{folder / 'cl991_poke.py'} {problem}")


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(MissingRuleFolderError, match=r"no rule folder .*mine; correct"):
        load_rules(tmp_path / "mine")
