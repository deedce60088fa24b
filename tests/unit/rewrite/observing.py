"""Functions of one file, run as they are and looked at as patterns look at them, without a simulator."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from capturelint.finding import Fix
from capturelint.rewrite.allowed import NOTHING, Allowed
from capturelint.rewrite.compose import applied
from capturelint.rewrite.form import Refusal
from capturelint.rewrite.merging import ROWS, WHERE
from capturelint.rewrite.observation import Observation
from capturelint.rewrite.observed import Observed, function_named
from capturelint.source import SourceFile

if TYPE_CHECKING:
    from capturelint.rewrite.patterns.order import Pattern

IMPORTS = "import torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n\n"


def observed(
    text: str,
    *given: Any,
    name: str = "step",
    allowed: Allowed = NOTHING,
    blamed: frozenset[int] | None = None,
) -> Observed:
    """Return a function after a run, as if its tensors had been on a GPU."""
    from capturelint.rewrite.proof.recorder import NAME, Recorder

    named = function_named(text, "m.py", name)
    observation, source = Observation(), SourceFile.of(text)
    recorder = Recorder(observation)
    recorder.instrumented(named.tree, named.node, source)
    names: dict[str, Any] = {NAME: recorder}
    exec(compile(named.tree, "m.py", "exec"), names)
    owner, _, method = name.rpartition(".")
    run = getattr(names[owner](), method) if owner else names[name]
    run(*given)
    for span, seen in observation.seen.items():
        observation.seen[span] = {replace(one, device="cuda" if one.device else "") for one in seen}
    return Observed(
        function_named(text, "m.py", name), source, observation, allowed=allowed, blamed=blamed
    )


def written(pattern: Pattern, body: str, *given: Any, head: str, allowed: Allowed = NOTHING) -> str:
    """Return the body of `step` as a pattern first offers to write it, or why it does not; "" for no site."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    text = f"{IMPORTS}{head}{lines}"
    facts = observed(text, *given, allowed=allowed)
    found = pattern.sites(facts)
    if not found:
        return ""
    forms = pattern.match(found[0], facts, "torch")
    if isinstance(forms, Refusal):
        return str(forms)
    new = applied(text, [Fix("proven", forms[0].edits)])
    ast.parse(new)
    new = new.replace(ROWS, "torch.where").replace(WHERE, "torch.where").rstrip("\n")
    start = len(f"{IMPORTS}{head}".split("\n")) - 1
    return "\n".join(line[4:] for line in new.split("\n")[start:])
