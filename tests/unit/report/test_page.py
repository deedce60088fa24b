"""The page of a rule, the list of rules, and both as JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capturelint.finding import Effect
from capturelint.lint.codes import OwnCode
from capturelint.lint.measured import Measured, Record
from capturelint.lint.registry import RuleEntry, builtin_rules
from capturelint.operations import Operation
from capturelint.report import page
from capturelint.rule import About, Rule, Triggers, names

BAD = 'def bad_poke(x):\n    poke(x)  # expect: CL991 "pokes"\n'
GOOD = "\n\ndef good_look(x):\n    look(x)\n"


class Poke(Rule):
    about = About("CL991", "poke", (Effect.REFUSES, Effect.SLOW), since="0.1")
    triggers = Triggers(names=names(["poke"]))


@pytest.fixture
def entry(tmp_path: Path) -> RuleEntry:
    fixture = tmp_path / "cl991_poke.py"
    fixture.write_text(BAD + GOOD)
    return RuleEntry(Poke, "Poking is wrong.", tmp_path / "rules" / "cl991_poke.py", fixture)


def test_the_page_has_facts_prose_and_one_example_of_each_kind(entry: RuleEntry) -> None:
    assert page.render(entry) == (
        "# CL991 poke\n\n"
        "refuses-capture, slow | no automatic fix | since 0.1\n\n"
        "Poking is wrong.\n\n"
        "## Reported\n\n```python\ndef bad_poke(x):\n    poke(x)  # <- CL991\n```\n\n"
        "## Not reported\n\n```python\ndef good_look(x):\n    look(x)\n```"
    )


def test_a_fixed_fixture_makes_the_rule_fixable(entry: RuleEntry) -> None:
    entry.fixed.write_text("")

    assert "refuses-capture, slow | fixable | since 0.1" in page.render(entry)


def test_a_rule_without_a_fixture_has_a_page_without_examples(entry: RuleEntry) -> None:
    entry.fixture.unlink()

    assert page.render(entry).endswith("Poking is wrong.")


def test_operations_are_a_table_at_the_end_with_bars_escaped(
    entry: RuleEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = Operation("torch.poke", "int | None", Effect.REFUSES, "CL991", ">=2.6")
    plain = page.render(entry)
    monkeypatch.setattr(page, "operations_of", lambda code: (row,) if code == "CL991" else ())
    monkeypatch.setattr(page, "known_from", lambda _: "H200, 2.11")

    assert page.render(entry) == (
        f"{plain}\n\n"
        "## Operations\n\n"
        "| operation | form | effect | torch | known from |\n"
        "|---|---|---|---|---|\n"
        "| `torch.poke` | int \\| None | refuses-capture | >=2.6 | H200, 2.11 |"
    )


def test_what_a_gpu_ran_and_what_differs_ends_the_page(
    entry: RuleEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {
        "source": "00",
        "device": "GPU",
        "torch": "2.11",
        "driver": "1.2",
        "date": "2026-01-01",
    }
    bad = Measured("CL991", "bad_poke", "refuses-capture", "refused", **about)
    good = Measured("CL991", "good_look", "refuses-capture", "refused", **about)
    plain = page.render(entry)
    record = Record((bad, good), ("good_new",))
    monkeypatch.setattr(page, "record_of", lambda code, _: record if code == "CL991" else None)

    assert page.render(entry) == (
        f"{plain}\n\n"
        "Measured: 2 of 3 examples on GPU, torch 2.11, driver 1.2, 2026-01-01\n"
        "- `good_look`: refuses-capture: refused\n"
        "- `good_new`: not measured as it is now"
    )


def test_an_example_that_differs_is_told_with_its_reason(
    entry: RuleEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {
        "source": "00",
        "device": "GPU",
        "torch": "2.11",
        "driver": "1.2",
        "date": "2026-01-01",
    }
    bad = Measured("CL991", "bad_poke", "replays-equal", "", **about)
    monkeypatch.setattr(page, "record_of", lambda *_: Record((bad,), ()))
    monkeypatch.setattr(page, "reasons", lambda: {"CL991": {"bad_poke": "a reason"}})

    assert page.render(entry).endswith("\n- `bad_poke`: replays-equal: a reason")


def test_the_list_has_aligned_columns_and_the_first_sentence_of_each_page(entry: RuleEntry) -> None:
    class Jab(Rule):
        about = About("CL992", "jab-twice", (Effect.STALE,), since="0.1")
        triggers = Triggers()

    prose = "Jabbing `x.jab(1.5)` twice\nmay be stale. More.\n\nAnd more."
    other = RuleEntry(Jab, prose, entry.path, entry.fixture)
    own = OwnCode("CL000", "own", "Nothing. `check` says so.")

    assert page.render_list([own, entry, other]) == (
        "CL000  own\n"
        "       Nothing.\n"
        "CL991  poke       refuses-capture, slow\n"
        "       Poking is wrong.\n"
        "CL992  jab-twice  stale-on-replay\n"
        "       Jabbing `x.jab(1.5)` twice may be stale."
    )
    assert page.render_list([]) == ""


def test_a_code_without_a_rule_has_the_same_shape() -> None:
    own = OwnCode("CL000", "own", "Nothing to do.")

    assert page.render(own) == (
        "# CL000 own\n\nabout the check itself | since 0.1\n\nNothing to do."
    )
    assert json.loads(page.render_json([own]))["rules"] == [
        {
            "code": "CL000",
            "name": "own",
            "effect": [],
            "since": "0.1",
            "fixable": False,
            "summary": "Nothing to do.",
            "page": page.render(own),
        }
    ]


def test_json_has_the_same_shape_for_one_rule_and_for_many(entry: RuleEntry) -> None:
    assert json.loads(page.render_json([entry])) == {
        "version": 1,
        "rules": [
            {
                "code": "CL991",
                "name": "poke",
                "effect": ["refuses-capture", "slow"],
                "since": "0.1",
                "fixable": False,
                "summary": "Poking is wrong.",
                "page": page.render(entry),
            }
        ],
    }
    assert json.loads(page.render_json([])) == {"version": 1, "rules": []}


def test_a_page_says_whether_the_host_waits_outside_a_capture_too() -> None:
    rules = {entry.code: entry for entry in builtin_rules()}

    assert "\nrefuses-capture | slow with `--scope step` | " in page.render(rules["CL101"])
    assert "--scope step" not in page.render(rules["CL205"])
