"""Source that is legal and odd: deep, recursive, with form feeds or stand-ins for imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.lint.engine import check
from capturelint.lint.registry import builtin_rules
from capturelint.lint.result import CheckResult
from tests.unit.lint.probe import config_for

_HEAD = "import torch\nfrom torch import Tensor, nn\n\n\nclass Model(nn.Module):\n"
_FORWARD = "    def forward(self, x: Tensor, n: int):\n"


def _checked(folder: Path, text: str) -> CheckResult:
    (folder / "m.py").write_text(text)
    return check([folder], config_for(folder), builtin_rules())


@pytest.mark.parametrize(
    "expression",
    [" + ".join(["x"] * 300), "x" + ".t()" * 150, " and ".join(["n"] * 600)],
    ids=["sum", "calls", "and"],
)
def test_a_long_expression_hides_nothing_after_it(expression: str, tmp_path: Path) -> None:
    body = f"        y = {expression}\n        return y, x.item()\n"

    result = _checked(tmp_path, _HEAD + _FORWARD + body)

    assert [f.code for f in result.findings] == ["CL101"]


@pytest.mark.parametrize(
    "value",
    [
        "(fib := lambda k: k if k < 2 else fib(k - 1) + fib(k - 2))",
        "(fib := lambda a: fib(a) + fib(a) + fib(a))",
    ],
)
def test_a_lambda_that_calls_itself_is_evaluated_once(value: str, tmp_path: Path) -> None:
    body = f"        {value}\n        return x * fib(n) + x.item()\n"

    result = _checked(tmp_path, _HEAD + _FORWARD + body)

    assert [f.code for f in result.findings] == ["CL101"]


def test_a_function_that_calls_itself_around_no_capture_is_checked(tmp_path: Path) -> None:
    text = (
        "import torch\n\n\ndef run(step=None):\n    run(other)\n    if False:\n"
        "        with torch.cuda.graph(None):\n            step()\n\n\n"
        "def other(x):\n    return x\n"
    )

    result = _checked(tmp_path, text)

    assert (result.roots, result.findings) == (0, ())


def test_a_form_feed_before_a_line_means_nothing(tmp_path: Path) -> None:
    result = _checked(tmp_path, f"{_HEAD}{_FORWARD}\f        return x.item()\n")

    assert [(f.code, f.span.line) for f in result.findings] == [("CL101", 7)]


@pytest.mark.parametrize(
    "stand_in", ["torch = nn = None", "nn = object", "class nn: Module = object"]
)
def test_an_import_wins_over_its_stand_in(stand_in: str, tmp_path: Path) -> None:
    text = (
        "try:\n    import torch\n    import torch.nn as nn\nexcept ImportError:\n"
        f"    {stand_in}\n\n\nclass Model(nn.Module):\n"
        "    def forward(self, x):\n        return x.item()\n"
    )

    result = _checked(tmp_path, text)

    assert (result.roots, [f.code for f in result.findings]) == (1, ["CL101"])


def test_what_tensors_are_added_to_in_a_loop_is_a_tensor(tmp_path: Path) -> None:
    body = (
        "        total = 0\n        for part in x:\n            total = total + part.sum()\n"
        "        if total > 2:\n            x = x * 2\n        return x\n"
    )

    result = _checked(tmp_path, _HEAD + _FORWARD + body)

    assert [(f.code, f.span.line) for f in result.findings] == [("CL401", 10)]


def test_a_function_too_deep_to_check_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capturelint.lint.subjects.cst.parse_module", _too_deep)

    result = _checked(tmp_path, _HEAD + _FORWARD + "        return x.item()\n")

    assert [(f.code, f.span.line) for f in result.findings] == [("CL000", 6)]
    assert "Model.forward is nested too deeply" in result.findings[0].message


def _too_deep(text: str) -> None:
    raise RecursionError(text)


@pytest.mark.parametrize("expression", ["x in(lambda: x)", "not(lambda: x)", "x and(lambda: x)"])
def test_what_libcst_cannot_read_is_said_and_the_rest_is_checked(
    expression: str, tmp_path: Path
) -> None:
    odd = f"        return x.item(), {expression}\n\n"
    other = "class Other(nn.Module):\n    def forward(self, x: Tensor):\n        return x.item()\n"

    result = _checked(tmp_path, _HEAD + _FORWARD + odd + other)

    assert [(f.code, f.span.line) for f in result.findings] == [("CL000", 6), ("CL101", 11)]
