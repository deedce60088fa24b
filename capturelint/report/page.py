"""The page of a rule as Markdown, the list of all rules, and both as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from capturelint.lint.fixture import example
from capturelint.lint.registry import RuleEntry
from capturelint.operations import Operation, operations_of


def render(entry: RuleEntry) -> str:
    """Return the page that `capturelint rule` prints. A rule without a fixture has no examples."""
    about = entry.rule.about
    fix = "fixable" if entry.fixed.exists() else "no automatic fix"
    title = f"# {about.code} {about.name}"
    facts = f"{_effects(entry)} | {fix} | since {about.since}"
    return "\n\n".join([title, facts, entry.page, *_operations(entry.code), *_examples(entry)])


def render_list(entries: Sequence[RuleEntry]) -> str:
    """Return one line per rule: code, name, effects."""
    names = max((len(entry.rule.about.name) for entry in entries), default=0)
    return "\n".join(
        f"{entry.code}  {entry.rule.about.name:<{names}}  {_effects(entry)}" for entry in entries
    )


def render_json(entries: Sequence[RuleEntry]) -> str:
    """Return `{"version": 1, "rules": [...]}`, the same shape for one rule and for all."""
    return json.dumps({"version": 1, "rules": [_as_json(entry) for entry in entries]}, indent=2)


def _as_json(entry: RuleEntry) -> dict[str, object]:
    about = entry.rule.about
    return {
        "code": about.code,
        "name": about.name,
        "effect": [effect.value for effect in about.effects],
        "since": about.since,
        "fixable": entry.fixed.exists(),
        "page": render(entry),
    }


def _effects(entry: RuleEntry) -> str:
    return ", ".join(effect.value for effect in entry.rule.about.effects)


def _operations(code: str) -> Iterator[str]:
    rows = operations_of(code)
    if rows:
        table = ["| operation | form | effect | torch | known from |", "|---|---|---|---|---|"]
        yield "## Operations\n\n" + "\n".join([*table, *(_row(row) for row in rows)])


def _row(row: Operation) -> str:
    effect = row.effect.value if row.effect else "safe"
    cells = (f"`{row.op}`", row.form, effect, row.torch, row.checked)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _examples(entry: RuleEntry) -> Iterator[str]:
    if entry.fixture.exists():
        yield f"## Reported\n\n{_code(example(entry.fixture, 'bad_'))}"
        yield f"## Not reported\n\n{_code(example(entry.fixture, 'good_'))}"


def _code(source: str) -> str:
    return f"```python\n{source}\n```"
