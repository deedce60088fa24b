"""The screen drops no finding: it only spares work."""

from __future__ import annotations

import ast
import sysconfig
from pathlib import Path

import pytest

from capturelint.bundle import bundled
from capturelint.config import Config, Scope
from capturelint.lint.discovery import discover
from capturelint.lint.engine import check
from capturelint.lint.linked import Linked
from capturelint.lint.linking import link
from capturelint.lint.registry import builtin_rules
from capturelint.lint.sites.reading import read_sites
from capturelint.lint.subjects import UnparsedError, reports_of
from capturelint.rule import Subject

_LIBRARY = Path(sysconfig.get_path("stdlib"))
_MODULES = "base64 bisect colorsys datetime difflib heapq random statistics textwrap trace"
# Methods of tensors to put in place of common methods of strings and lists.
_METHODS = {
    "append": "index_fill_",
    "extend": "masked_select",
    "format": "cpu",
    "get": "to",
    "insert": "repeat_interleave",
    "items": "tolist",
    "join": "where",
    "keys": "unique",
    "lower": "nonzero",
    "match": "inverse",
    "pop": "item",
    "replace": "pin_memory",
    "split": "numpy",
    "startswith": "new_tensor",
    "strip": "cuda",
    "write": "synchronize",
}
_RULES = builtin_rules()

Place = tuple[str, int, int, str, str]


@pytest.mark.slow
@pytest.mark.parametrize("scope", [Scope.CAPTURED, Scope.ALL])
def test_the_screen_drops_nothing_from_the_fixtures(scope: Scope) -> None:
    config = Config(root=bundled("fixtures"), preset=(), scope=scope, jobs=1)
    paths = [bundled("fixtures")]

    screened = _screened(paths, config)

    assert len(screened) > 10
    assert screened == _forced(paths, config)


@pytest.mark.slow
def test_the_screen_drops_nothing_from_a_library_made_to_work_on_tensors(tmp_path: Path) -> None:
    for name in _MODULES.split():
        path = _LIBRARY / f"{name}.py"
        if path.exists():
            (tmp_path / f"{name}.py").write_text(_on_tensors(path), encoding="utf-8")
    config = Config(root=tmp_path, preset=(), scope=Scope.ALL, jobs=1)

    screened = _screened([tmp_path], config)

    codes = {code for *_, code, _ in screened}
    assert len(screened) > 250
    assert codes >= {"CL101", "CL103", "CL104", "CL105", "CL401", "CL402", "CL403"}
    assert screened == _forced([tmp_path], config)


def _screened(paths: list[Path], config: Config) -> set[Place]:
    """Return what `check` finds."""
    result = check(paths, config, _RULES)
    assert result.errors == ()
    return {
        (
            str(Path(f.path).resolve()),
            f.span.line,
            f.span.column,
            f.code,
            f.message.removeprefix("if captured: "),  # said of what no root reaches
        )
        for f in result.findings
    }


def _forced(paths: list[Path], config: Config) -> set[Place]:
    """Return what every rule says of every function that was evaluated, triggers or not."""
    files, problems = discover(paths, exclude=(), root=config.root)
    linked = link(files, problems, config, lambda _n, _t: True, stdin=None, progress=None)
    found: set[Place] = set()
    for state in linked.states():
        function = linked.project.functions[state.index]
        source = linked.reader.source(function.file.path)
        captured = state.index in linked.captured
        rules = [entry.rule for entry in _RULES]
        try:
            said = reports_of(
                rules, source, function.facts, state.values, state.marks, captured=captured
            )
        except UnparsedError:
            continue
        path = str(Path(function.file.path).resolve())
        found |= {
            (path, r.span.line, r.span.column, rule.about.code, r.message) for rule, r in said
        }
    steps = _of_steps(linked)
    places = {step[:4] for step in steps}
    return {one for one in found if one[:4] not in places} | steps | _at_sites(linked)


def _of_steps(linked: Linked) -> set[Place]:
    """Return what rules say of what runs each step, instead of what they say else of the same."""
    rules = [entry.rule for entry in _RULES if entry.rule.about.waits]
    found: set[Place] = set()
    for state in linked.step_states():
        function = linked.project.functions[state.index]
        source = linked.reader.source(function.file.path)
        said = reports_of(
            rules,
            source,
            function.facts,
            state.values,
            state.marks,
            captured=False,
            is_step=True,
        )
        path = str(Path(function.file.path).resolve())
        found |= {
            (path, r.span.line, r.span.column, rule.about.code, r.message) for rule, r in said
        }
    return found


def _at_sites(linked: Linked) -> set[Place]:
    """Return what rules say of code around captures, which no screen spares."""
    found: set[Place] = set()
    for functions, site in read_sites(linked):
        path = str(Path(functions[0].file.path).resolve())
        for entry in _RULES:
            rule = entry.rule(Subject(site.name, {}, {}))
            rule.judge_site(site)
            found |= {
                (path, r.span.line, r.span.column, entry.code, r.message) for r in rule.reports
            }
    return found


def _on_tensors(path: Path) -> str:
    """Return a module in which each parameter is a tensor and common methods are those of tensors.

    It keeps no comment, so that nothing in it is accepted by one.
    """
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for parameter in (*node.args.args, *node.args.kwonlyargs):
                if parameter.arg not in ("self", "cls"):
                    parameter.annotation = ast.Name("Tensor")
        elif isinstance(node, ast.Attribute):
            node.attr = _METHODS.get(node.attr, node.attr)
    future = "from __future__ import annotations"
    text = ast.unparse(tree).replace(future, "")
    return f"{future}\nfrom torch import Tensor\n{text}\n"
