"""The page of a rule as Markdown, the list of all rules, and both as JSON.

Codes of the tool's own, which no rule reports, have a page too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from capturelint.lint.codes import OwnCode
from capturelint.lint.fixture import example
from capturelint.lint.measured import Measured, reasons, record_of
from capturelint.lint.registry import RuleEntry
from capturelint.operations import Operation, operations_of
from capturelint.operations.measured import known_from

Topic: TypeAlias = RuleEntry | OwnCode

_SINCE_FIRST = "0.1"


def render(topic: Topic) -> str:
    """Return the page that `capturelint rule` prints. A rule without a fixture has no examples."""
    title = f"# {topic.code} {name(topic)}"
    facts = " | ".join(_facts(topic))
    parts = [title, facts, topic.page]
    if isinstance(topic, RuleEntry):
        parts += [*_examples(topic), *_operations(topic.code), *_measured(topic)]
    return "\n\n".join(parts)


def render_list(topics: Sequence[Topic]) -> str:
    """Return two lines per code: code, name, effects; then the first sentence of the page."""
    names = max((len(name(topic)) for topic in topics), default=0)
    return "\n".join(line for topic in topics for line in _listed(topic, names))


def render_json(topics: Sequence[Topic]) -> str:
    """Return `{"version": 1, "rules": [...]}`, the same shape for one code and for all."""
    return json.dumps({"version": 1, "rules": [_as_json(topic) for topic in topics]}, indent=2)


def summary(topic: Topic) -> str:
    """Return the first sentence of the page, on one line."""
    paragraph = " ".join(topic.page.partition("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`])", paragraph, maxsplit=1)[0]


def name(topic: Topic) -> str:
    """Return the name of a rule, such as `host-read`."""
    return topic.rule.about.name if isinstance(topic, RuleEntry) else topic.name


def since(topic: Topic) -> str:
    """Return the first release that has a rule."""
    return topic.rule.about.since if isinstance(topic, RuleEntry) else _SINCE_FIRST


def _as_json(topic: Topic) -> dict[str, object]:
    return {
        "code": topic.code,
        "name": name(topic),
        "effect": _effects(topic),
        "since": since(topic),
        "fixable": _is_fixable(topic),
        "summary": summary(topic),
        "page": render(topic),
    }


def _listed(topic: Topic, width: int) -> Iterator[str]:
    yield f"{topic.code}  {name(topic):<{width}}  {', '.join(_effects(topic))}".rstrip()
    yield f"       {summary(topic)}"


def _facts(topic: Topic) -> Iterator[str]:
    yield ", ".join(_effects(topic)) or "about the check itself"
    if isinstance(topic, RuleEntry):
        if topic.rule.about.waits:
            yield "slow with `--scope step`"
        yield "fixable" if _is_fixable(topic) else "no automatic fix"
    yield f"since {since(topic)}"


def _is_fixable(topic: Topic) -> bool:
    return isinstance(topic, RuleEntry) and topic.fixed.exists()


def _effects(topic: Topic) -> list[str]:
    if isinstance(topic, OwnCode):
        return []
    return [effect.value for effect in topic.rule.about.effects]


def _operations(code: str) -> Iterator[str]:
    rows = operations_of(code)
    if rows:
        table = ["| operation | form | effect | torch | known from |", "|---|---|---|---|---|"]
        yield "## Operations\n\n" + "\n".join([*table, *(_row(row) for row in rows)])


def _row(row: Operation) -> str:
    effect = row.effect.value if row.effect else "safe"
    cells = (f"`{row.op}`", row.form, effect, row.torch, known_from(row))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _measured(entry: RuleEntry) -> Iterator[str]:
    """Return how many examples a GPU ran, and in a line each which did something else."""
    record = record_of(entry.code, entry.fixture)
    count = len(record.current) + len(record.missing)
    if count:
        line = f"Measured: {len(record.current)} of {count} examples{_where(record.current)}"
        others = [one for one in record.current if not one.agrees(entry.rule.about.effects)]
        unknown = [f"- `{name}`: not measured as it is now" for name in record.missing]
        yield "\n".join([line, *map(_differing, others), *unknown])


def _where(lines: Sequence[Measured]) -> str:
    places = sorted({(one.device, one.torch, one.driver, one.date) for one in lines})
    return "".join(
        f" on {device}, torch {torch}, driver {driver}, {date};"
        for device, torch, driver, date in places
    ).rstrip(";")


def _differing(one: Measured) -> str:
    reason = reasons().get(one.rule, {}).get(one.example, one.error or "not what the page says")
    return f"- `{one.example}`: {one.outcome}: {reason}"


def _examples(entry: RuleEntry) -> Iterator[str]:
    if entry.fixture.exists():
        yield f"## Reported\n\n{_code(example(entry.fixture, 'bad_'))}"
        yield f"## Not reported\n\n{_code(example(entry.fixture, 'good_'))}"


def _code(source: str) -> str:
    return f"```python\n{source}\n```"
