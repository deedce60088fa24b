"""Judge and rewrite classes of a fixture on the simulator, in this process."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.bundle import bundled

if TYPE_CHECKING:
    from capturelint.verdict import Report

FOLDER = bundled("fixtures") / "rewrites"
FILES = sorted(path for path in FOLDER.glob("*.py") if not path.stem.endswith(".fixed"))
# What makes the inputs of classes without a function of their own, by the names of arguments.
_SHARED = {"x": "inputs", "xy": "pairs", "xn": "counts", "xm": "masked"}


@dataclass(frozen=True, slots=True)
class Example:
    """One class of a fixture. `inputs`: the function that makes what it receives.

    `kept`: words of the reason for which it stays as it is, "" if it is rewritten. `is_clean`: there
    is nothing wrong with it. `trains`: in training mode. `all_experts`: that may run on all rows.
    `torch`: the release that it needs, "" for any.
    """

    path: Path
    name: str
    inputs: str
    text: str
    kept: str
    is_clean: bool
    trains: bool
    all_experts: bool = False
    is_unsafe: bool = False
    torch: str = ""

    @property
    def is_rewritten(self) -> bool:
        """Whether it is shown as it is rewritten."""
        return not self.kept and not self.is_clean

    @property
    def fixed(self) -> Path:
        """The file that shows how it is rewritten."""
        return self.path.with_suffix(".fixed.py")


def examples() -> list[Example]:
    """Return all classes of the fixtures but those that others are made of, or that need a later torch."""
    found: list[Example] = []
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        functions = {one.name for one in ast.parse(text).body if isinstance(one, ast.FunctionDef)}
        for name, source in classes(text).items():
            if not name.startswith("_"):
                found.append(_example(path, name, source, functions))
    return [one for one in found if not one.torch or _has(one.torch)]


def _has(release: str) -> bool:
    """Return whether torch is installed in a release, or in a later one."""
    from capturelint.release import release_of

    if find_spec("torch") is None:
        return True
    import torch

    wanted, own = release_of(release), release_of(torch.__version__)
    return own is None or wanted is None or own >= wanted


def _example(path: Path, name: str, text: str, functions: set[str]) -> Example:
    marks = text.split("\n")[0].partition("#")[2]
    kept = marks.partition("kept: ")[2].strip()
    own = re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
    arguments = re.search(r"def forward\(self, (.*?)\)", text)
    assert arguments is not None, name
    letters = "".join(re.findall(r"(?:^|, )(\w)\b", arguments[1]))
    inputs = own if own in functions else _SHARED[letters]
    return Example(
        *(path, name, inputs, text, kept),
        is_clean="replays equal" in marks,
        trains="train" in marks,
        all_experts="all experts" in marks,
        is_unsafe="unsafe" in marks,
        torch="".join(re.findall(r"torch (2\.\d+)", marks)),
    )


def judged(example: Example, path: Path | None = None, *, is_partial: bool = False) -> Report:
    """Return the report on a class, as it stands in `path`, with what can be written instead."""
    from capturelint.debug import backends
    from capturelint.debug.cases.loading import load
    from capturelint.debug.settings import Settings
    from capturelint.rewrite.allowed import Allowed
    from capturelint.rewrite.proof.judge import judge_and_rewrite

    file = path or example.path
    allowed = Allowed(
        partial=is_partial, all_experts=example.all_experts, unsafe_fixes=example.is_unsafe
    )
    settings = Settings(backend="simulated", train=example.trains)
    backend, _ = backends.chosen(settings)
    make = load(f"{file}:{example.name}", inputs=f"{file}:{example.inputs}", settings=settings)
    with backend.session():
        return judge_and_rewrite(
            make, backend, settings, known={}, emit=lambda _: None, allowed=allowed
        )


def classes(text: str) -> dict[str, str]:
    """Return the source of each class of a file by name, with the comment on its first line."""
    lines = text.split("\n")
    return {
        node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno])
        for node in ast.parse(text).body
        if isinstance(node, ast.ClassDef)
    }
