"""Rules as SARIF describes them: a sentence, the page, the level and the effects."""

from __future__ import annotations

from capturelint.lint.codes import IDLE
from capturelint.lint.registry import RuleEntry
from capturelint.report import page
from capturelint.report.severity import breaks


def descriptor(topic: page.Topic) -> dict[str, object]:
    """Return the description of one rule, or of one code of the tool's own."""
    summary = page.summary(topic)
    is_rule = isinstance(topic, RuleEntry)
    effects = topic.rule.about.effects if isinstance(topic, RuleEntry) else ()
    is_error = breaks(effects) if is_rule else topic.code != IDLE.code
    words = [effect.value for effect in effects]
    return {
        "id": topic.code,
        "name": page.name(topic),
        "shortDescription": {"text": summary},
        "help": {"text": topic.page, "markdown": topic.page},
        "defaultConfiguration": {"level": "error" if is_error else "warning"},
        "properties": {
            "effect": words,
            "since": page.since(topic),
            "tags": ["cuda-graphs", *words],
        },
    }
