"""Fixtures of rules with fixes: what the fixer writes, and that it computes and captures the same."""

from __future__ import annotations

import contextlib
import io
import logging
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from capturelint.bundle import bundled
from capturelint.config import Config, Scope
from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.finding import Finding
from capturelint.lint.engine import check
from capturelint.lint.fixture import examples
from capturelint.lint.registry import builtin_rules
from capturelint.rewrite.compose import applied, compatible
from capturelint.rewrite.mend import PATTERNS, mended
from capturelint.verdict import Report, Verdict
from tests.forked import reports

pytestmark = pytest.mark.slow
needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

FIXED = sorted(bundled("fixtures").glob("*.fixed.py"))
RULES = builtin_rules()


@pytest.fixture(params=FIXED, ids=[path.name.partition("_")[0] for path in FIXED])
def after(request: pytest.FixtureRequest) -> Path:
    """Return a file that the fixer wrote."""
    path: Path = request.param
    return path


def _before(after: Path) -> Path:
    return after.with_name(after.name.replace(".fixed", ""))


def _findings(path: Path) -> tuple[Finding, ...]:
    config = Config(root=bundled("fixtures"), scope=Scope.ALL, preset=())
    return check([path], config, RULES, mend=mended).findings


def _changed(after: Path) -> list[str]:
    """Return the functions of a fixture that its fixes change."""
    old, new = (
        {node.name: node for node in examples(path.read_text(encoding="utf-8"), "bad_")}
        for path in (_before(after), after)
    )
    texts = [path.read_text(encoding="utf-8").splitlines() for path in (_before(after), after)]

    def text_of(lines: list[str], node: Any) -> list[str]:
        return lines[node.lineno - 1 : node.end_lineno]

    return [n for n in old if text_of(texts[0], old[n]) != text_of(texts[1], new[n])]


def test_every_pattern_has_a_fixture_that_it_changes() -> None:
    codes = {path.name.partition("_")[0].upper() for path in FIXED}
    wanted = {code for pattern in PATTERNS for code in pattern.CODES}

    assert sorted(wanted - codes) == ["CL102"], "copies are printed as reads are"


def test_the_fixer_writes_what_stands_beside_the_fixture(after: Path) -> None:
    findings = _findings(_before(after))
    old = _before(after).read_text(encoding="utf-8")
    new = applied(old, compatible(one.fix for one in findings if one.fix is not None))

    assert new == after.read_text(encoding="utf-8")


def test_nothing_is_found_any_more_where_it_was_fixed_and_nothing_new(after: Path) -> None:
    left, before = _findings(after), _findings(_before(after))
    fixed = [one for one in before if one.fix is not None]

    assert fixed
    assert [one for one in left if one.fix is not None] == []
    assert len(left) == len(before) - len(fixed)
    assert {one.code for one in left} <= {one.code for one in before}


@needs_torch
def test_what_was_fixed_computes_the_same_with_the_same_layout(after: Path) -> None:
    import torch

    names = _changed(after)
    old, new = (_loaded(path) for path in (_before(after), after))

    assert names
    for name in names:
        torch.manual_seed(0)
        given = old["inputs"]()
        one, other = (_called(module[name], given) for module in (old, new))
        assert torch.equal(one, other), name
        assert (one.dtype, one.stride()) == (other.dtype, other.stride()), name


@pytest.fixture(scope="module")
def verdicts() -> dict[tuple[Path, str], Verdict | str]:
    """Return what bisect says of all that fixes change, before and after; words where it says nothing."""
    asked = {
        f"{path}:{name}": (path, name)
        for one in FIXED
        for path in (_before(one), one)
        for name in _changed(one)
    }
    answers = reports(
        {
            target: Request(target, Settings(), f"{path}:inputs", None)
            for target, (path, _) in asked.items()
        }
    )
    return {
        asked[target]: one.verdict if isinstance(one, Report) else one
        for target, one in answers.items()
    }


@needs_torch
def test_the_simulator_refuses_what_was_fixed_before_and_replays_it_after(
    after: Path, verdicts: dict[tuple[Path, str], Verdict | str]
) -> None:
    names = _changed(after)
    got = {path: {name: verdicts[path, name] for name in names} for path in (_before(after), after)}

    assert got[_before(after)] == dict.fromkeys(names, Verdict.REFUSES)
    assert got[after] == dict.fromkeys(names, Verdict.EQUAL)


def _loaded(path: Path) -> dict[str, Any]:
    """Return the names of a fixture that runs on the CPU."""
    names: dict[str, Any] = {"__name__": path.stem}
    text = path.read_text(encoding="utf-8")
    text = text.replace('"cuda"', '"cpu"').replace(".cuda()", ".cpu()")
    exec(compile(text, str(path), "exec"), names)
    return names


def _called(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """Return what a function makes of copies; what it prints goes nowhere."""
    logging.disable(logging.CRITICAL)
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(*(one.clone() for one in given))
    finally:
        logging.disable(logging.NOTSET)
