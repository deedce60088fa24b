"""What the source tells of what the user named, before anything of it is imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.named import check_named

SOURCE = """\
import torch

if True:
    try:
        from models import Llama as Model
    except ImportError:
        Model = None


def make():
    inside = 1


class Net: ...


one, (two, *rest) = 1, (2, 3)
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.py").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize(
    "name", ["make", "Net", "Net.build", "Model", "torch", "one", "two", "rest"]
)
def test_a_name_that_the_file_binds_passes(name: str) -> None:
    check_named(f"m.py:{name}", None)


@pytest.mark.parametrize(
    ("target", "inputs", "message"),
    [
        ("n.py:make", None, "no file n.py; correct the path"),
        ("m.py", None, "m.py names no object in it; name what to run: m.py:make"),
        ("m.py:mak", None, "m.py has no 'mak'; did you mean make?"),
        ("m.py:torc", None, "m.py has no 'torc'; it has make, Net"),
        ("m.py:inside", None, "m.py has no 'inside'; it has make, Net"),
        ("m.py:make", "inptus", "m.py has no 'inptus'; it has make, Net"),
        ("bad.py:make", None, "bad.py:2: invalid syntax; correct it first"),
    ],
)
def test_what_is_sure_to_be_a_mistake_is_said(
    target: str, inputs: str | None, message: str, folder: Path
) -> None:
    (folder / "bad.py").write_text("x = 1\nno python here\n")

    with pytest.raises(CaseError) as raised:
        check_named(target, inputs)

    assert str(raised.value) == message


@pytest.mark.parametrize(
    "source",
    [
        "from models import *",
        "globals()['make'] = len",
        "def f():\n    global make\n    make = len\nf()",
        "def __getattr__(name): return len",
    ],
)
def test_a_file_that_may_bind_more_is_left_to_its_import(source: str, folder: Path) -> None:
    (folder / "m.py").write_text(source)

    check_named("m.py:make", None)


def test_a_module_is_left_to_its_import() -> None:
    check_named("no.such.package:make", None)


def test_torch_is_not_imported_for_it() -> None:
    code = (
        "import sys\n"
        "from capturelint.cli.main import main\n"
        "assert main(['bisect', 'm.py:mak']) == 2\n"
        "assert not {'torch', 'libcst'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stderr) == (
        0,
        "capturelint: m.py has no 'mak'; did you mean make?\n",
    )
