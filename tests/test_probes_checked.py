"""What the rules on staleness say of every probe, against what an H200 did with it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from capturelint.bundle import bundled
from capturelint.config import Config
from capturelint.lint.discovery import discover
from capturelint.lint.engine import check
from capturelint.lint.registry import builtin_rules
from tests.measured import PROBES, measured, rows

_ABOUT_STALENESS = ("CL204", "CL501", "CL502", "CL503", "CL504", "CL505", "CL506", "CL6")
# Wrong in another way than by being stale, or stale where no rule of these looks.
_BESIDES = {
    "sep_generator": "a generator that the graph does not know is refused",
    "lazy_memo_of_input": "stale only when it was not warmed up",
}
_UNSEEN = {
    "pre_hook_counter_scale": "hooks are not followed",
    "default_stream_use": "a stream, not a value",
    "data_ptr_baked": "addresses are not followed",
    "scatter_add": "not deterministic in eager either",
    "index_add_bf16": "not deterministic in eager either",
}


def test_the_rules_on_staleness_find_what_went_stale_and_nothing_that_replayed_right() -> None:
    stale = {
        row["name"]
        for row in rows()
        for shown in [measured(row, "warm")]
        if shown is not None and shown.outcome == "stale"
    }

    found = set(_found())

    assert found - stale - _BESIDES.keys() == set()
    assert stale - found - _UNSEEN.keys() == set()
    assert _BESIDES.keys() - found == set()
    assert _UNSEEN.keys() & found == set()


def _found() -> Iterator[str]:
    """Yield the name of each probe of which a rule on staleness says something."""
    config = Config(root=bundled("fixtures"), preset=(), select=_ABOUT_STALENESS, jobs=1)
    paths, _ = discover([PROBES], exclude=(), root=config.root)
    for finding in check(paths, config, builtin_rules()).findings:
        name = finding.function.split(".")[-2]
        yield _named(name)


def _named(class_name: str) -> str:
    """Return the name of the probe that a class is."""
    for path in sorted(PROBES.glob("*.py")):
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and node.name == class_name:
                (decorator,) = node.decorator_list
                assert isinstance(decorator, ast.Call), "probes are named by a decorator"
                return str(ast.literal_eval(decorator.args[0]))
    return class_name
