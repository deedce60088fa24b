"""The files of the loaded modules, and whether they changed."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import capturelint.debug.cases.loaded_files as subject
from capturelint.debug.cases.loaded_files import are_unchanged, stamp, stamps_of_loaded


def test_the_files_of_loaded_modules_are_stamped_but_not_those_of_python() -> None:
    stamps = stamps_of_loaded()

    assert stamps[subject.__file__] == stamp(subject.__file__)
    assert os.__file__ not in stamps


class LoudModule(ModuleType):
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


@pytest.mark.parametrize("module", [None, object(), LoudModule("loud"), ModuleType("quiet")])
def test_a_strange_module_is_passed_over(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "strange_module", module)

    assert subject.__file__ in stamps_of_loaded()


@pytest.mark.parametrize("file", [None, 3, "", "no/such/file.py", "a\0b"])
def test_a_module_with_a_strange_file_does_no_harm(
    file: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("strange_module")
    module.__dict__["__file__"] = file
    monkeypatch.setitem(sys.modules, "strange_module", module)

    assert are_unchanged(stamps_of_loaded())


def test_an_edit_a_new_time_and_a_removal_are_changes(tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("one")
    stamps = {str(path): stamp(str(path))}
    assert are_unchanged(stamps)

    os.utime(path, ns=(1, 1))
    assert not are_unchanged(stamps)
    stamps = {str(path): stamp(str(path))}
    path.write_text("three")
    os.utime(path, ns=(1, 1))
    assert not are_unchanged(stamps)
    path.unlink()
    assert not are_unchanged(stamps)
