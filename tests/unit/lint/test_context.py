"""Files named one by one: reached from the rest of their package, reported alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.config import Config
from capturelint.lint.context import importers
from capturelint.lint.engine import check
from capturelint.lint.registry import builtin_rules
from capturelint.lint.result import CheckResult

_FILES = {
    "llm/__init__.py": "from .model import Model\n",
    "llm/model.py": """
        import torch
        from torch import nn
        from .ops import cache

        class Model(nn.Module):
            def forward(self, x: torch.Tensor):
                y = x.tolist()
                return cache.read(x)
    """,
    "llm/ops/__init__.py": "",
    "llm/ops/cache.py": "def read(x):\n    return x.sum().item()\n",
    "llm/unrelated.py": "import math\n",
}


@pytest.fixture
def package(tmp_path: Path) -> Path:
    for name, text in _FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = text.split("\n")
        path.write_text("\n".join(line.removeprefix(" " * 8) for line in lines))
    return tmp_path


def _checked(package: Path, *names: str, roots: tuple[str, ...] = ()) -> CheckResult:
    paths = [package / name for name in names]
    return check(paths, Config(root=package, preset=(), roots=roots), builtin_rules())


def test_a_file_named_alone_is_reached_from_the_files_that_import_it(package: Path) -> None:
    result = _checked(package, "llm/ops/cache.py")

    assert [(f.code, f.span.line) for f in result.findings] == [("CL101", 2)]
    assert [step.function for step in result.findings[0].chain] == ["Model.forward", "read"]
    assert (result.files, result.roots, result.captured_functions) == (1, 1, 1)


def test_what_is_found_in_the_other_files_is_not_reported(package: Path) -> None:
    alone = _checked(package, "llm/ops/cache.py").findings
    whole = _checked(package, "llm").findings

    assert len(whole) == 2
    assert [f for f in whole if f.path.endswith("cache.py")] == list(alone)


def test_only_files_that_import_a_named_one_take_part(package: Path) -> None:
    beside = [package / name for name in _FILES if name != "llm/ops/cache.py"]

    found = importers([package / "llm/ops/cache.py"], beside, Path.read_bytes)

    assert {path.name for path in found} == {"__init__.py", "model.py"}
    assert package / "llm/unrelated.py" not in found


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("llm.nope", ""),
        ("llm.read", "; did you mean 'llm.ops.cache.read'?"),
        ("cache.read", "; did you mean 'llm.ops.cache.read'?"),
    ],
)
def test_a_root_that_matches_nothing_is_said(package: Path, name: str, hint: str) -> None:
    result = _checked(package, "llm", roots=(name,))

    assert result.warnings == (f"roots: {name!r} matches nothing in the checked files{hint}",)


def test_a_root_may_be_named_as_its_package_exports_it(package: Path) -> None:
    (package / "llm/__init__.py").write_text("from .ops.cache import read\n")

    result = _checked(package, "llm", roots=("llm.read",))

    assert result.errors == ()
    assert any(f.path.endswith("cache.py") and len(f.chain) == 1 for f in result.findings)
