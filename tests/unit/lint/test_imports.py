"""Which file a name that is imported means, where several have it or none should."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import captured, found, linked, roots

_BAD = "def f(x): return x.item()\n"
_FINE = "def f(x): return x\n"
_EMPTY_NOTEBOOK = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
_NOTEBOOK = (
    '{"cells": [{"cell_type": "code", "source": "def f(x): return x", "metadata": {},'
    ' "outputs": [], "execution_count": null}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
)


def _model(imports: str, value: str) -> str:
    return (
        f"from torch import nn\n{imports}\n"
        f"class M(nn.Module):\n    def forward(self, x):\n        return {value}\n"
    )


@pytest.mark.parametrize(
    "other",
    [
        {"tools/torch.py": "x = 1\n"},
        {"tools/torch/__init__.py": "x = 1\n"},
        {"tools/torch.ipynb": _EMPTY_NOTEBOOK},
        {"torch.py": "x = 1\n"},
        {"torch/__init__.py": "x = 1\n"},
        {"pkg/torch.py": "x = 1\n"},
        {"torch/helper.py": "from torch import nn\n", "jax/helper.py": ""},
    ],
)
def test_no_file_of_the_project_answers_for_torch(other: dict[str, str], tmp_path: Path) -> None:
    files = {"pkg/__init__.py": "", "pkg/m.py": _model("", "x.item()"), **other}

    assert found(tmp_path, files) == ["pkg/m.py:5 CL101"]


@pytest.mark.parametrize("name", ["random", "time", "functools"])
@pytest.mark.parametrize("folder", ["tools/", "zone/", ""])
def test_no_file_answers_for_the_standard_library(name: str, folder: str, tmp_path: Path) -> None:
    text = _model("import random, time, functools", "x * random.random() * time.time()")
    files = {"zone/m.py": text}
    alone = found(tmp_path / "alone", files)

    assert len(alone) == 2
    assert found(tmp_path / "both", {**files, f"{folder}{name}.py": "x = 1\n"}) == alone


def test_a_file_named_as_a_module_of_python_answers_for_what_it_holds(tmp_path: Path) -> None:
    files = {"zone/m.py": _model("from profile import f", "f(x)"), "zone/profile.py": _BAD}

    assert found(tmp_path, files) == ["zone/profile.py:1 CL101"]


def test_a_folder_of_tests_for_a_package_is_not_that_package(tmp_path: Path) -> None:
    model = _model("from transformers import PreTrainedModel", "x.item()")
    files = {
        "pkg/__init__.py": "",
        "pkg/m.py": model.replace("nn.Module", "PreTrainedModel"),
        "tests/transformers/__init__.py": "",
    }

    assert found(tmp_path, files) == ["pkg/m.py:5 CL101"]


@pytest.mark.parametrize(
    ("helpers", "place"),
    [
        ({"zone/helper.py": _BAD, "two/helper.py": _FINE}, ["zone/helper.py:1 CL101"]),
        ({"zone/helper.py": _FINE, "two/helper.py": _BAD}, []),
        ({"two/helper.py": _BAD}, []),
        ({"helper.py": _BAD, "a/helper.py": _FINE}, ["helper.py:1 CL101"]),
        ({"helper.py": _BAD, "zone/helper.py": _FINE}, []),
        ({"src/helper.py": _BAD, "a/helper.py": _FINE}, ["src/helper.py:1 CL101"]),
        ({"zone/helper.py": _BAD, "zone/helper.ipynb": _NOTEBOOK}, ["zone/helper.py:1 CL101"]),
        (
            {"zone/helper.py": _FINE, "zone/helper/__init__.py": _BAD},
            ["zone/helper/__init__.py:1 CL101"],
        ),
    ],
)
@pytest.mark.parametrize("imports", ["from helper import f", "from helper import *"])
def test_a_script_imports_what_is_beside_it_then_what_is_in_a_root(
    helpers: dict[str, str], place: list[str], imports: str, tmp_path: Path
) -> None:
    files = {"zone/main.py": _model(imports, "f(x)"), **helpers}

    assert found(tmp_path, files) == place


@pytest.mark.parametrize("imports", ["from pk.h import f", "from .h import f", "from . import h"])
@pytest.mark.parametrize("inside", [True, False])
def test_of_two_packages_of_a_name_the_own_one_wins(
    imports: str, inside: bool, tmp_path: Path
) -> None:
    call = "h.f(x)" if imports.endswith("h") else "f(x)"
    text = _model(imports, call)
    if inside:
        text = _model("", call).replace("return", f"{imports}\n        return")
    files = {
        "a/pk/__init__.py": "",
        "a/pk/h.py": _FINE,
        "b/pk/__init__.py": "",
        "b/pk/h.py": _BAD,
        "b/pk/m.py": text,
    }

    assert found(tmp_path, files) == ["b/pk/h.py:1 CL101"]


def test_code_beside_a_source_folder_imports_its_packages(tmp_path: Path) -> None:
    files = {
        "src/lib/__init__.py": "",
        "src/lib/h.py": _BAD,
        "run/m.py": _model("from lib.h import f", "f(x)"),
    }

    assert found(tmp_path, files) == ["src/lib/h.py:1 CL101"]


_SPACE = "proj/models/m.py"


@pytest.mark.parametrize(
    ("path", "imports", "call"),
    [
        (_SPACE, "from proj.layers.h import f", "f(x)"),
        (_SPACE, "from ..layers.h import f", "f(x)"),
        (_SPACE, "from proj.layers import h", "h.f(x)"),
        (_SPACE, "from proj import layers\nimport proj.layers.h", "layers.h.f(x)"),
        (_SPACE, "import proj.layers.h", "proj.layers.h.f(x)"),
        (_SPACE, "import proj.layers.h as deep", "deep.f(x)"),
        ("main.py", "from proj.layers.h import f", "f(x)"),
    ],
)
@pytest.mark.parametrize("init", [{}, {"proj/layers/__init__.py": ""}])
def test_folders_without_init_are_packages_where_imports_name_them(
    path: str, imports: str, call: str, init: dict[str, str], tmp_path: Path
) -> None:
    files = {"proj/layers/h.py": _BAD, path: _model(imports, call), **init}

    assert found(tmp_path, files) == ["proj/layers/h.py:1 CL101"]


def test_a_script_in_such_a_folder_also_imports_what_is_beside_it(tmp_path: Path) -> None:
    files = {
        "proj/layers/h.py": _BAD,
        "proj/layers/m.py": _model("from h import f\nfrom proj.layers import h", "f(x)"),
    }

    assert found(tmp_path, files) == ["proj/layers/h.py:1 CL101"]


def test_a_module_of_a_folder_without_init_has_one_name(tmp_path: Path) -> None:
    files = {
        "proj/layers/h.py": _FINE,
        "proj/models/m.py": _model("from proj.layers.h import f", "f(x)"),
    }

    assert captured(tmp_path, files) == {"proj.layers.h.f", "proj.models.m.M.forward"}


def test_scripts_that_import_no_folder_keep_their_plain_names(tmp_path: Path) -> None:
    files = {"proj/layers/h.py": _FINE, "proj/models/m.py": _model("from proj.no import f", "x")}

    assert set(roots(tmp_path, files)) == {"m.M.forward"}


def test_of_scripts_of_a_name_that_in_the_root_has_the_plain_one(tmp_path: Path) -> None:
    files = linked(tmp_path, {"helper.py": _FINE, "a/helper.py": _FINE}).project.files

    assert len(files) == 2
    assert files["helper"].path == str(tmp_path / "helper.py")
