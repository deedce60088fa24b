"""Decorators: wrappers that run in place of a captured function, and escapes that keep it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.lint.engine import check
from capturelint.lint.registry import builtin_rules
from tests.unit.lint.probe import IMPORTS, captured, config_for, kinds, written

_PLAIN = """
import functools
from contextlib import contextmanager
def checked(function):
    prepare(function)

    @functools.wraps(function)
    def wrapper(self, x: Tensor):
        before(x)
        return function(self, x)

    return wrapper

def before(x): return x.item()
def prepare(function): pass
"""
_WITH_ARGUMENTS = """
def checked(level, *, strict=True):
    def decorate(function):
        prepare(function)

        def wrapper(self, x: Tensor):
            before(x)
            return function(self, x)

        return wrapper

    return decorate

def before(x): return x.item()
def prepare(function): pass
"""
_MODEL = """
class Model(nn.Module):
    @{decorator}
    def forward(self, x: Tensor):
        return x
"""


@pytest.mark.parametrize(
    ("text", "decorator", "wrapper"),
    [
        (_PLAIN, "checked", "m.checked.wrapper"),
        (_WITH_ARGUMENTS, "checked(3, strict=False)", "m.checked.decorate.wrapper"),
    ],
)
def test_the_wrapper_of_a_captured_function_is_captured(
    text: str, decorator: str, wrapper: str, tmp_path: Path
) -> None:
    files = {"m.py": IMPORTS + text + _MODEL.format(decorator=decorator)}

    assert captured(tmp_path, files) == {"m.Model.forward", wrapper, "m.before"}


@pytest.mark.parametrize(
    ("text", "decorator"), [(_PLAIN, "checked"), (_WITH_ARGUMENTS, "checked(3)")]
)
def test_a_wrapper_is_reached_from_the_function_it_wraps(
    text: str, decorator: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, {"m.py": IMPORTS + text + _MODEL.format(decorator=decorator)})
    result = check([tmp_path], config_for(tmp_path), builtin_rules())
    [finding] = result.findings
    lines = (tmp_path / "m.py").read_text(encoding="utf-8").splitlines()

    prefix = "checked." if text == _PLAIN else "checked.decorate."
    assert [step.function for step in finding.chain] == [
        "Model.forward",
        f"{prefix}wrapper",
        "before",
    ]
    assert [lines[step.line - 1].strip() for step in finding.chain] == [
        "def forward(self, x: Tensor):",
        "before(x)",
        "def before(x): return x.item()",
    ]


def test_a_wrapper_from_another_file_is_found_by_its_import(tmp_path: Path) -> None:
    files = {
        "tools.py": IMPORTS + _PLAIN,
        "m.py": IMPORTS + "import tools\n" + _MODEL.format(decorator="tools.checked"),
        "n.py": IMPORTS
        + "from tools import checked as guarded\n"
        + _MODEL.format(decorator="guarded"),
        "o.py": IMPORTS + _MODEL.format(decorator="checked"),
    }

    assert captured(tmp_path, files) == {
        "m.Model.forward",
        "n.Model.forward",
        "o.Model.forward",
        "tools.checked.wrapper",
        "tools.before",
    }
    del files["m.py"], files["n.py"]
    for name in ("m.py", "n.py"):
        (tmp_path / name).unlink()
    assert captured(tmp_path, files) == {"o.Model.forward"}


def test_a_decorator_that_gives_its_function_back_adds_nothing(tmp_path: Path) -> None:
    text = """
def registered(function):
    def unused(x): return x
    note(function)
    return function

def note(function): pass
"""
    files = {"m.py": IMPORTS + text + _MODEL.format(decorator="registered")}

    assert captured(tmp_path, files) == {"m.Model.forward"}


def test_the_wrapper_of_a_function_that_only_setup_runs_is_not_captured(tmp_path: Path) -> None:
    text = """
class Model(nn.Module):
    @checked
    def prepare(self, x): return x

    def forward(self, x: Tensor): return x
"""

    assert captured(tmp_path, {"m.py": IMPORTS + _PLAIN + text}) == {"m.Model.forward"}


def test_a_wrapper_sees_the_tensor_it_is_passed(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def scaled(factor):
            def decorate(function):
                def wrapper(self, x: Tensor):
                    x  #: device tensor
                    return function(self, x)

                return wrapper

            return decorate

        class Model(nn.Module):
            @scaled(2)
            def forward(self, x: Tensor):
                return x
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("decorator", ["eager_on_graph", "eager_on_graph(True)"])
def test_an_escape_of_a_preset_keeps_the_decorated_function_out(
    decorator: str, tmp_path: Path
) -> None:
    files = {
        "m.py": IMPORTS
        + f"""
from sglang.breakable import eager_on_graph

@{decorator}
def outside(x): return x

def kept(x): return x

class Model(nn.Module):
    def forward(self, x: Tensor): return kept(outside(x))
"""
    }

    assert captured(tmp_path, files, preset=("sglang",)) == {"m.Model.forward", "m.kept"}
    assert "m.outside" in captured(tmp_path, files)


@pytest.mark.parametrize(
    "applied",
    ["outside = eager_on_graph(True)(inner)", "outside = eager_on_graph(inner)"],
)
def test_an_escape_of_a_preset_may_be_applied_by_a_call(applied: str, tmp_path: Path) -> None:
    files = {
        "m.py": IMPORTS
        + f"""
def eager_on_graph(enable):
    def decorate(inner):
        def wrapper(x): return inner(x)
        return wrapper
    return decorate

def inner(x): return x
{applied}

class Model(nn.Module):
    def forward(self, x: Tensor): return outside(x)
"""
    }

    assert captured(tmp_path, files, preset=("sglang",)) == {"m.Model.forward"}


@pytest.mark.parametrize(
    "decorator", ["use_experts_implementation", "use_experts_implementation()"]
)
def test_an_escape_of_a_preset_may_decorate_a_class(decorator: str, tmp_path: Path) -> None:
    files = {
        "m.py": IMPORTS
        + f"""
from transformers.integrations import use_experts_implementation

@{decorator}
class Experts(nn.Module):
    def forward(self, x: Tensor): return looped(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = Experts()
    def forward(self, x: Tensor): return self.experts(x)

def looped(x): return x
"""
    }

    assert captured(tmp_path, files, preset=("transformers",)) == {"m.Model.forward"}
    assert "m.looped" in captured(tmp_path, files)


def test_an_ordinary_class_decorator_keeps_nothing_out(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from transformers.utils import auto_docstring

        @auto_docstring
        class Model(nn.Module):
            def forward(self, x: Tensor):
                x  #: device tensor
        """,
        preset=("transformers",),
    )

    assert told.seen == told.wanted
