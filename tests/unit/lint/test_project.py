"""What names mean across the files of a project, and which functions calls lead to."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.kind import Role
from capturelint.lint.linked import Linked
from tests.unit.lint.probe import captured, linked

_ROOT = """
    import torch
    {imports}

    # capturelint: captured
    def step(x: torch.Tensor):
        return {call}
"""
_MOVED = "def moved(x):\n    return x.cpu()\n"


def test_of_two_definitions_the_one_for_a_gpu_is_called(tmp_path: Path) -> None:
    text = """
    import torch

    def called(x): ...
    def other(x): ...

    if torch.cuda.is_available():
        def chosen(x):
            called(x)
    else:
        def chosen(x):
            other(x)
        def only_here(x):
            called(x)

    # capturelint: captured
    def step(x: torch.Tensor):
        chosen(x)
        only_here(x)
    """

    assert captured(tmp_path, {"m.py": text}) == {"m.step", "m.chosen", "m.only_here", "m.called"}


@pytest.mark.parametrize(
    ("text", "called"),
    [
        # The package may be missing; what torch and the project have is there.
        (
            "try:\n    from fast import k\nexcept ImportError:\n    def k(x):\n        one(x)\n",
            {"k", "one"},
        ),
        (
            "try:\n    from torch import k\nexcept ImportError:\n    def k(x):\n        one(x)\n",
            set(),
        ),
        (
            "try:\n    from n import k\nexcept ImportError:\n    def k(x):\n        one(x)\n",
            {"n.k"},
        ),
        # Nobody knows which arm is run.
        ("if FLAG:\n    def k(x):\n        one(x)\nelse:\n    def k(x):\n        two(x)\n", None),
        (
            "try:\n    def k(x):\n        one(x)\nexcept OSError:\n    def k(x):\n        two(x)\n",
            None,
        ),
        ("def k(x):\n    one(x)\nif FLAG:\n    def k(x):\n        two(x)\n", None),
        ("if FLAG:\n    k = one\nelse:\n    k = two\n", {"one", "two"}),
        (
            "if FLAG:\n    k = one\nelif flag():\n    def k(x):\n        two(x)\nelse:\n    k = three\n",
            {"one", "k", "two", "three"},
        ),
        ("try:\n    k = FLAG.one\nexcept AttributeError:\n    k = two\n", {"two"}),
        # One is surely the one.
        ("if TYPE_CHECKING:\n    def k(x):\n        one(x)\nelse:\n    k = two\n", {"two"}),
        ("if FLAG:\n    k = one\nelse:\n    k = two\ndef k(x):\n    three(x)\n", {"k", "three"}),
        ("if FLAG:\n    def k(x):\n        one(x)\n", {"k", "one"}),
    ],
)
def test_of_names_bound_in_several_arms_all_are_followed_that_may_be_meant(
    text: str, called: set[str] | None, tmp_path: Path
) -> None:
    head = "import torch\nfrom typing import TYPE_CHECKING\nfrom other import FLAG, flag\n"
    ends = "".join(f"def {name}(x): ...\n" for name in ("one", "two", "three"))
    step = "# capturelint: captured\ndef step(x: torch.Tensor):\n    k(x)\n"
    files = {"m.py": head + ends + text + step, "n.py": "def k(x): ...\n"}
    wanted = {"k", "one", "two"} if called is None else called

    told = captured(tmp_path, files)

    assert told == {"m.step", *(name if "." in name else f"m.{name}" for name in wanted)}


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from pkg.tools.near import moved", "moved(x)"),
        ("from pkg.tools.near import moved as m", "m(x)"),
        ("from .near import moved", "moved(x)"),
        ("from . import near", "near.moved(x)"),
        ("from . import near as n", "n.moved(x)"),
        ("from .. import tools", "tools.near.moved(x)"),
        ("from ..tools.near import moved", "moved(x)"),
        ("import pkg.tools.near", "pkg.tools.near.moved(x)"),
        ("import pkg.tools.near as n", "n.moved(x)"),
        ("from pkg.tools import again", "again(x)"),
        ("from pkg import twice", "twice(x)"),
        ("from pkg.tools.every import *", "moved(x)"),
        ("from pkg.tools.every import moved", "moved(x)"),
    ],
)
def test_an_import_leads_to_the_function(imports: str, call: str, tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from .tools import again as twice\n",
        "pkg/tools/__init__.py": "from .near import moved as again\n",
        "pkg/tools/near.py": _MOVED,
        "pkg/tools/every.py": "from .near import *\n",
        "pkg/tools/m.py": _ROOT.format(imports=imports, call=call),
    }

    assert captured(tmp_path, files) == {"pkg.tools.m.step", "pkg.tools.near.moved"}


@pytest.mark.parametrize(
    ("imports", "call"),
    [
        ("from elsewhere import moved", "moved(x)"),
        ("from pkg.tools.near import stirred", "stirred(x)"),
        ("import near", "near.moved(x)"),
        ("from pkg.nowhere import moved", "moved(x)"),
        ("moved = None", "moved(x)"),
        ("", "moved(x)"),
        ("", "x.moved()"),
    ],
)
def test_a_name_from_elsewhere_leads_nowhere(imports: str, call: str, tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/tools/__init__.py": "",
        "pkg/tools/near.py": _MOVED,
        "pkg/tools/m.py": _ROOT.format(imports=imports, call=call),
    }

    assert captured(tmp_path, files) == {"pkg.tools.m.step"}


def test_a_folder_without_init_is_a_package_below_one_that_has_it(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/plain/near.py": _MOVED,
        "pkg/m.py": _ROOT.format(imports="from pkg.plain.near import moved", call="moved(x)"),
        "pkg/n.py": _ROOT.format(imports="import pkg.plain", call="pkg.plain.near.moved(x)"),
    }

    assert captured(tmp_path, files) == {"pkg.m.step", "pkg.n.step", "pkg.plain.near.moved"}


def test_files_without_a_package_import_each_other_by_name(tmp_path: Path) -> None:
    files = {
        "near.py": _MOVED,
        "m.py": _ROOT.format(imports="from near import moved", call="moved(x)"),
    }

    assert captured(tmp_path, files) == {"m.step", "near.moved"}


def test_imports_in_a_circle_end(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "from pkg.a import moved, lost\n",
        "pkg/a.py": "from pkg.b import *\nfrom pkg.b import moved, lost\n",
        "pkg/b.py": "from pkg.a import *\nfrom pkg import lost\ndef moved(x): return x\n",
        "pkg/m.py": _ROOT.format(imports="from pkg import moved, lost", call="moved(lost(x))"),
    }

    assert captured(tmp_path, files) == {"pkg.m.step", "pkg.b.moved"}


def test_an_import_inside_a_function_counts_there(tmp_path: Path) -> None:
    files = {
        "near.py": _MOVED,
        "m.py": """
            # capturelint: captured
            def step(x):
                from near import moved as m
                return m(x)
        """,
    }

    assert captured(tmp_path, files) == {"m.step", "near.moved"}


def test_of_two_files_of_one_name_both_are_checked(tmp_path: Path) -> None:
    text = "# capturelint: captured\ndef step(x):\n    return other(x)\n\ndef other(x): pass\n"
    run = linked(tmp_path, {"a/m.py": text, "b/m.py": text})

    found = [run.project.functions[index] for index in run.captured]
    assert sorted(Path(f.file.path).parent.name for f in found) == ["a", "a", "b", "b"]
    assert len({f.full_name for f in found}) == 4


def test_a_method_is_looked_for_in_base_classes_of_other_files(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/base.py": """
            from torch import nn

            class Base(nn.Module):
                def part(self, x): return x
                def other(self, x): return x
                def hidden(self, x): return x
        """,
        "pkg/mid.py": "from . import base\n\nclass Mid(base.Base):\n    pass\n",
        "pkg/m.py": """
            from .mid import Mid as Parent

            class Model(Parent):
                def forward(self, x):
                    return self.part(super().other(x))
                def hidden(self, x): return x
        """,
    }

    assert captured(tmp_path, files) == {
        "pkg.m.Model.forward",
        "pkg.base.Base.part",
        "pkg.base.Base.other",
    }


def test_a_call_through_a_base_reaches_every_override(tmp_path: Path) -> None:
    text = """
        from torch import nn

        class Base(nn.Module):
            def part(self, x): raise NotImplementedError
            def forward(self, x): return self.part(x)

        class Left(Base):
            def part(self, x): return x

        class Below(Left):
            def part(self, x): return super().part(x)

        class Unrelated:
            def part(self, x): return x
    """

    assert captured(tmp_path, {"m.py": text}) == {
        "m.Base.forward",
        "m.Base.part",
        "m.Left.part",
        "m.Below.part",
    }


def test_super_skips_the_class_itself_and_goes_on_upwards(tmp_path: Path) -> None:
    text = """
        from torch import nn

        class Top(nn.Module):
            def part(self, x): return x

        class Mid(Top):
            def rest(self, x): return x

        class Mixin:
            def part(self, x): return x

        class Model(Mid, Mixin):
            def part(self, x): return x
            def forward(self, x): return super().part(x)
    """

    assert captured(tmp_path, {"m.py": text}) == {"m.Model.forward", "m.Top.part"}


def test_bases_in_a_circle_end(tmp_path: Path) -> None:
    text = """
        class A(B):
            def a(self): pass
        class B(A):
            # capturelint: captured
            def b(self): return self.a() + self.c()
        class C(C): pass
    """

    assert captured(tmp_path, {"m.py": text}) == {"m.B.b", "m.A.a"}


@pytest.mark.parametrize(
    ("base", "is_module"),
    [
        ("nn.Module", True),
        ("torch.nn.Module", True),
        ("nn.Linear", True),
        ("pl.LightningModule", True),
        ("PreTrainedModel", True),
        ("Generic[T], nn.Module", True),
        ("Local", True),
        ("object", False),
        ("torch.utils.data.Dataset", False),
        ("nn.functional.Thing", False),
        ("Nowhere", False),
    ],
)
def test_a_module_is_known_by_its_ancestors(base: str, is_module: bool, tmp_path: Path) -> None:
    text = f"""
        import pytorch_lightning as pl
        import torch
        from torch import nn
        from transformers import PreTrainedModel

        class Local(nn.Module): pass
        class Model({base}): pass
    """
    project = linked(tmp_path, {"m.py": text}).project

    assert project.is_module(1) is is_module


def test_a_class_knows_all_below_it(tmp_path: Path) -> None:
    project = linked(
        tmp_path, {"m.py": "class A: pass\nclass B(A): pass\nclass C(B): pass\nclass D: pass\n"}
    ).project

    assert [project.subclasses(index) for index in range(4)] == [(1, 2), (2,), (), ()]
    assert project.order(2) == (2, 1, 0)


def test_a_dotted_name_resolves_to_methods_and_inner_classes(tmp_path: Path) -> None:
    text = """
        import torch.nn.functional as F

        class Outer:
            def method(self): pass

            class Inner:
                def method(self): pass
    """
    run = linked(tmp_path, {"m.py": text})

    assert _meaning(run, "Outer") == (Role.CLASS, "m.Outer")
    assert _meaning(run, "Outer.method") == (Role.FUNCTION, "m.Outer.method")
    assert _meaning(run, "Outer.Inner.method") == (Role.FUNCTION, "m.Outer.Inner.method")
    assert _meaning(run, "Outer.nothing") is None
    assert run.project.resolve("m", "F.relu").name == "torch.nn.functional.relu"


def test_modules_of_the_package_are_read_for_the_link_alone(tmp_path: Path) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/base.py": """
            from torch import nn

            class Base(nn.Module):
                def part(self, x): return x
        """,
        "pkg/m.py": """
            from pkg.base import Base

            class Model(Base):
                def forward(self, x): return self.part(x)
        """,
    }
    run = linked(tmp_path, files, exclude=("pkg/base.py",))

    assert set(run.project.files) == {"pkg", "pkg.m", "pkg.base"}
    assert {run.project.functions[i].full_name for i in run.captured} == {"pkg.m.Model.forward"}


def _meaning(run: Linked, name: str) -> tuple[Role, str] | None:
    ref = run.project.resolve("m", name).ref
    if ref is None:
        return None
    if ref.role is Role.CLASS:
        return ref.role, run.project.classes[ref.at].full_name
    return ref.role, run.project.functions[ref.at].full_name
