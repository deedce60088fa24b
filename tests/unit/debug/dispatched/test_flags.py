"""Variables of engines say that a graph is captured, and are put back."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from capturelint.debug.dispatched.flags import engines_told


def _loaded(monkeypatch: pytest.MonkeyPatch, name: str, **variables: object) -> ModuleType:
    module = ModuleType(name)
    vars(module).update(variables)
    monkeypatch.setitem(sys.modules, name, module)
    return module


def test_the_flag_of_a_loaded_engine_is_set_inside_also_when_something_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _loaded(monkeypatch, "sglang")
    runner = _loaded(monkeypatch, "sglang.srt.runner", is_capture_mode=False)
    other = _loaded(monkeypatch, "mine.runner", is_capture_mode=False)
    seen = []

    def look() -> None:
        seen.append((vars(runner)["is_capture_mode"], vars(other)["is_capture_mode"]))
        raise KeyError

    with pytest.raises(KeyError), engines_told():
        look()

    assert seen == [(True, False)]
    assert vars(runner)["is_capture_mode"] is False


def test_functions_of_that_name_and_other_variables_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def asks() -> bool:
        return False

    _loaded(monkeypatch, "sglang")
    runner = _loaded(monkeypatch, "sglang.runner", is_capture_mode=asks, other=False)
    with engines_told():
        assert (vars(runner)["is_capture_mode"], vars(runner)["other"]) == (asks, False)
