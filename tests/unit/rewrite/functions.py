"""Functions for tests of rewrites, checked and rewritten as `check --fix` does."""

from __future__ import annotations

from pathlib import Path

from capturelint.config import Config, Scope
from capturelint.finding import Finding
from capturelint.lint.engine import check
from capturelint.lint.registry import builtin_rules
from capturelint.rewrite.compose import applied, compatible
from capturelint.rewrite.mend import mended

IMPORTS = "import torch\nfrom torch import Tensor\n\n\n"
RULES = builtin_rules()


def found(text: str) -> tuple[Finding, ...]:
    """Return the findings of a file, with fixes."""
    config = Config(root=Path("/nowhere"), scope=Scope.ALL, preset=())
    return check([], config, RULES, stdin=(Path("m.py"), text), mend=mended).findings


def fixed(text: str) -> str:
    """Return a file after one round of all fixes, unsafe ones too."""
    return applied(text, compatible(one.fix for one in found(text) if one.fix is not None))


def rewritten(body: str) -> str:
    """Return the body of a function of a tensor `x` after its fixes."""
    lines = [f"    {line}" if line else "" for line in body.split("\n")]
    head = f"{IMPORTS}def step(x: Tensor) -> Tensor:\n"
    new = fixed(head + "\n".join(lines) + "\n")
    assert new.startswith(head)
    return "\n".join(line[4:] for line in new.removeprefix(head).rstrip("\n").split("\n"))


def refusals(body: str) -> list[str]:
    """Return why there is no fix for what is found in the body of a function of a tensor `x`."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    findings = found(f"{IMPORTS}def step(x: Tensor) -> Tensor:\n{lines}")
    assert findings, "nothing was found"
    return [one.refusal for one in findings if one.fix is None]
