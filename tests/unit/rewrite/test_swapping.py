"""Functions that run other code for a while."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Any

import pytest

from capturelint.rewrite.proof.swapping import CannotSwapError, code_in, functions_of, swapped

pytest.importorskip("torch")

TEXT = """\
class A:
    def f(self):
        return super().__init__() or 1

def outer():
    def inner():
        return 1
    return inner
"""


def test_a_function_is_found_though_the_program_froze_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    held = _loaded(path)["A"]
    gc.freeze()

    assert functions_of(str(path), "A.f") == [held.f]


def _loaded(path: Path) -> dict[str, Any]:
    names: dict[str, Any] = {}
    exec(compile(TEXT, str(path), "exec"), names)
    return names


def test_what_a_program_holds_runs_other_code_and_then_its_own(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    held = _loaded(path)["A"]()
    functions = functions_of(str(path), "A.f")
    code = code_in(compile(TEXT.replace("or 1", "or two"), str(path), "exec"), "A.f")

    with swapped(functions, code, {"two": 2}):
        inside = held.f()

    assert (inside, held.f()) == (2, 1)
    assert "two" not in functions[0].__globals__


def test_code_that_is_put_back_though_it_raises(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    held = _loaded(path)["A"]()
    functions = functions_of(str(path), "A.f")
    code = code_in(compile(TEXT.replace("or 1", "or two"), str(path), "exec"), "A.f")

    with pytest.raises(NameError), swapped(functions, code, {}):
        held.f()

    assert held.f() == 1


@pytest.mark.parametrize(
    ("qualname", "reason"),
    [
        ("outer.<locals>.inner", "it is defined inside of another function"),
        ("A.g", "it is defined more than once, or under another name"),
    ],
)
def test_a_function_that_is_not_found_is_told(qualname: str, reason: str) -> None:
    with pytest.raises(CannotSwapError, match=reason):
        code_in(compile(TEXT, "m.py", "exec"), qualname)


def test_a_function_that_nobody_holds_is_told() -> None:
    code = code_in(compile(TEXT, "m.py", "exec"), "A.f")
    missing = pytest.raises(CannotSwapError, match="it is not found in the running program")

    with missing, swapped([], code, {}):
        pass
