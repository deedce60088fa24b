"""Packages whose folders have no `__init__.py`: what their modules are called and what reaches them."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.lint.modules import Modules
from tests.unit.lint.probe import captured, written

_DEEP = {
    "pkg/__init__.py": "",
    "pkg/layers/moe/fast/kernels.py": "def run(x): return x\ndef other(x): return x\n",
    "pkg/layers/moe/model.py": """
        from torch import nn
        from .fast.kernels import run
        from pkg.layers.moe.fast import kernels
        import pkg.layers.moe.fast.kernels as deep

        class Model(nn.Module):
            def forward(self, x): return {call}
    """,
}
_MODEL = "pkg.layers.moe.model.Model.forward"
_RUN = "pkg.layers.moe.fast.kernels.run"


def _files(call: str) -> dict[str, str]:
    return {name: text.replace("{call}", call) for name, text in _DEEP.items()}


@pytest.mark.parametrize(
    "call",
    [
        "run(x)",
        "deep.run(x)",
        "kernels.run(x)",
    ],
)
def test_calls_cross_folders_without_init(call: str, tmp_path: Path) -> None:
    assert captured(tmp_path, _files(call)) == {_MODEL, _RUN}


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("pkg.layers.moe.fast", {_MODEL}),
        ("pkg.layers.*.run", {_MODEL}),
        ("pkg.layers", set()),
        ("pkg", set()),
        ("fast", {_MODEL, _RUN}),
        ("kernels.run", {_MODEL, _RUN}),
        ("layers.moe.fast", {_MODEL, _RUN}),
    ],
)
def test_patterns_see_the_whole_name_of_a_module(
    pattern: str, wanted: set[str], tmp_path: Path
) -> None:
    assert captured(tmp_path, _files("run(x)"), eager=(pattern,)) == wanted


def test_a_preset_is_chosen_by_the_folder_that_has_an_init(tmp_path: Path) -> None:
    files = {
        "vllm/__init__.py": "",
        "vllm/benchmarks/deep/m.py": """
            from torch import nn

            class Model(nn.Module):
                def forward(self, x): return x
        """,
        "vllm/layers/deep/m.py": """
            from torch import nn

            class Model(nn.Module):
                def forward(self, x): return x
        """,
    }

    assert captured(tmp_path, files, preset=None) == {"vllm.layers.deep.m.Model.forward"}


@pytest.mark.parametrize("marker", ["pyproject.toml", "setup.py", ".git/HEAD"])
def test_the_folder_of_a_project_ends_its_packages(marker: str, tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "outer/__init__.py": "",
            f"outer/tree/{marker}": "",
            "outer/tree/tools/a.py": "",
            "outer/free/tools/a.py": "",
            "outer/tree/pkg/__init__.py": "",
            "outer/tree/pkg/sub/a.py": "",
        },
    )
    name_of = Modules(tmp_path).name_of
    named = {
        path: name_of(tmp_path / "outer" / path)[0]
        for path in ("tree/tools/a.py", "free/tools/a.py", "tree/pkg/sub/a.py")
    }

    assert named == {
        "tree/tools/a.py": "a",
        "free/tools/a.py": "outer.free.tools.a",
        "tree/pkg/sub/a.py": "pkg.sub.a",
    }


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("from space.core import b\n", "space.core.a"),
        ("import space.core.b\n", "space.core.a"),
        ("if True:\n    from space.core.b import c\n", "space.core.a"),
        ("from core import b\n", "core.a"),
        ("from space.corex import b\n", "core.a"),
        ("x = 'from space.core import b'\n", "core.a"),
    ],
)
def test_imports_tell_of_a_namespace_around_a_package(
    text: str, module: str, tmp_path: Path
) -> None:
    files = {"space/core/__init__.py": "", "space/core/a.py": "", "space/core/deep/b.py": text}
    written(tmp_path, files)

    assert Modules(tmp_path).name_of(tmp_path / "space" / "core" / "a.py")[0] == module


@pytest.mark.parametrize("root", ["", "src/"])
@pytest.mark.parametrize(
    ("line", "is_followed"),
    [
        ("from ns.inner.ops import f", True),
        ("from ns.inner import ops; f = ops.f", True),
        ("from nsx.inner.ops import f", False),
        ("from ns.other.ops import f", False),
    ],
)
def test_a_package_beside_it_may_tell_of_a_namespace(
    root: str, line: str, is_followed: bool, tmp_path: Path
) -> None:
    files = {
        f"{root}ns/inner/ops.py": "def f(x): return x\n",
        f"{root}pkg/__init__.py": "",
        f"{root}pkg/deep/m.py": f"{line}\n# capturelint: captured\ndef step(x):\n    f(x)\n",
    }

    assert captured(tmp_path, files) == {
        "pkg.deep.m.step",
        *(["ns.inner.ops.f"] * is_followed),
    }
