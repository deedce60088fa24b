"""The names of modules, told by where their files are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from capturelint.lint.modules import Modules
from tests.unit.lint.probe import written


@pytest.mark.parametrize(
    ("path", "module", "is_package"),
    [
        ("pkg/__init__.py", "pkg", True),
        ("pkg/a.py", "pkg.a", False),
        ("pkg/sub/__init__.py", "pkg.sub", True),
        ("pkg/sub/b.py", "pkg.sub.b", False),
        ("pkg/plain/c.py", "pkg.plain.c", False),
        ("pkg/plain/deep/d.py", "pkg.plain.deep.d", False),
        ("script.py", "script", False),
        ("folder/script.py", "script", False),
        ("src/lib/__init__.py", "lib", True),
        ("src/lib/e.py", "lib.e", False),
    ],
)
def test_a_module_is_named_from_its_outermost_package(
    path: str, module: str, is_package: bool, tmp_path: Path
) -> None:
    names = (
        "pkg/__init__.py pkg/a.py pkg/sub/__init__.py pkg/sub/b.py pkg/plain/c.py "
        "pkg/plain/deep/d.py script.py folder/script.py src/lib/__init__.py src/lib/e.py"
    )
    written(tmp_path, dict.fromkeys(names.split(), ""))

    assert Modules(tmp_path).name_of(tmp_path / path) == (module, is_package)


def test_a_folder_may_have_any_name(tmp_path: Path) -> None:
    written(tmp_path, {"a(b[c/pkg/__init__.py": "", "a(b[c/pkg/m.py": ""})

    assert Modules(tmp_path).name_of(tmp_path / "a(b[c/pkg/m.py") == ("pkg.m", False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_named_pipe_beside_a_folder_without_packages_is_passed_over(tmp_path: Path) -> None:
    written(tmp_path, {"lib/ops.py": "from lib.ops import f\n"})
    os.mkfifo(tmp_path / "lib" / "a.py")
    os.mkfifo(tmp_path / "pipe.py")

    assert Modules(tmp_path).name_of(tmp_path / "lib/ops.py") == ("lib.ops", False)
