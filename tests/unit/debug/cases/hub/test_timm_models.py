"""Models of timm by name, told with a stand-in for timm: its own needs torchvision, which may lack."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from capturelint.debug.cases import requirements
from capturelint.debug.cases.loading import load
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.cases.requirements import MissingPackageError

TIMM = """\
from torch import nn

__version__ = "1.0"

class Net(nn.Conv2d):
    default_cfg = {"input_size": (3, 32, 48)}

def is_model(name):
    return name in list_models()

def list_models():
    return ["resnet18", "resnet50", "vit_tiny"]

def create_model(name, pretrained):
    assert not pretrained
    if name == "vit_tiny":
        raise RuntimeError("no attention here")
    return Net(3, 4, 1)
"""


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let the folder's timm stand for the real one."""
    (tmp_path / "timm").mkdir()
    file = tmp_path / "timm" / "__init__.py"
    file.write_text(TIMM)
    monkeypatch.syspath_prepend(tmp_path)
    real = sys.modules.pop("timm", None)
    yield file
    sys.modules.pop("timm", None)
    if real is not None:
        sys.modules["timm"] = real


def mistake(name: str) -> str:
    with pytest.raises(CaseError) as error:
        load(f"timm:{name}")()
    return str(error.value)


def test_a_model_gets_images_of_its_own_size() -> None:
    case = load("timm:resnet18")()
    model: Any = case.callables
    inputs: Any = case.inputs

    assert inputs(0)[0].shape == (2, 3, 32, 48)
    assert not torch.equal(inputs(0)[0], inputs(1)[0])
    assert not model.training
    assert case.notes == ("timm:resnet18: Net with random weights, 16 parameters",)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("resnet81", "timm:resnet81: timm 1.0 has no such model; did you mean timm:resnet18?"),
        ("zzz", "timm:zzz: timm 1.0 has no such model; name one such as timm:resnet18"),
        (
            "vit_tiny",
            (
                "timm:vit_tiny: it cannot be made: RuntimeError: no attention here; "
                "write a factory: FILE.py:make"
            ),
        ),
    ],
)
def test_what_cannot_be_made_is_told(name: str, message: str) -> None:
    assert mistake(name) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "import torchvision_",
            "timm needs torchvision_, which is not installed; pip install torchvision_",
        ),
        (
            "raise RuntimeError('operator torchvision::nms does not exist')",
            (
                "importing timm raised RuntimeError: operator torchvision::nms does not exist; "
                "mend its installation"
            ),
        ),
    ],
)
def test_a_timm_that_cannot_be_imported_is_told(package: Path, text: str, message: str) -> None:
    package.write_text(f"{text}\n")

    assert mistake("resnet18") == message


def test_without_the_package_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)

    with pytest.raises(MissingPackageError) as error:
        load("timm:resnet18")

    assert str(error.value) == "timm is not installed; pip install timm"
