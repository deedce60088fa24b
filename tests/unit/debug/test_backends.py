"""Which backend is chosen."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from capturelint.debug import backends
from capturelint.debug.backend import BackendError
from capturelint.debug.settings import Settings

torch = pytest.importorskip("torch", reason="the simulator is of torch")


@pytest.mark.parametrize("name", ["auto", "simulated"])
def test_without_a_gpu_the_simulator_judges(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _give(monkeypatch, cuda="13.0", devices=0)

    backend, notes = backends.chosen(Settings(backend=name))

    assert (backend.name, notes) == ("simulated", ())


@pytest.mark.parametrize(
    ("name", "wanted"), [("auto", "cuda"), ("cuda", "cuda"), ("simulated", "simulated")]
)
def test_with_a_gpu_it_judges_unless_the_simulator_is_asked_for(
    name: str, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _give(monkeypatch, cuda="13.0", devices=1)

    backend, notes = backends.chosen(Settings(backend=name))

    assert (backend.name, notes) == (wanted, ())


@pytest.mark.parametrize(
    ("cuda", "hip", "devices", "why"),
    [
        (None, None, 0, "is built without CUDA"),
        (None, "6.4", 1, "is built for ROCm, whose captures are not known to this version"),
        ("13.0", None, 0, "sees no CUDA device"),
    ],
)
def test_cuda_without_a_device_is_the_users_mistake(
    cuda: str | None, hip: str | None, devices: int, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _give(monkeypatch, cuda=cuda, hip=hip, devices=devices)
    with pytest.raises(BackendError) as caught:
        backends.chosen(Settings(backend="cuda"))

    text = f"backend cuda cannot be used: torch {torch.__version__} {why}; use --backend simulated"
    told = f"judged on the simulator: torch {torch.__version__} {why}"
    assert str(caught.value) == text
    assert backends.chosen(Settings())[0].name == "simulated"
    assert backends.chosen(Settings())[1] == ((told,) if hip else ())


@pytest.mark.parametrize("name", ["gpu", ""])
def test_another_backend_is_refused(name: str) -> None:
    with pytest.raises(BackendError):
        backends.chosen(Settings(backend=name))


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (OSError("libcudart.so.13: cannot open\nmore"), "libcudart.so.13: cannot open"),
        (ImportError(), "ImportError"),
    ],
)
def test_a_torch_that_cannot_be_imported_is_said_in_one_line(
    error: Exception, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    importing = builtins.__import__

    def broken(name: str, *rest: Any) -> Any:
        if name == "torch":
            raise error
        return importing(name, *rest)

    monkeypatch.setattr(builtins, "__import__", broken)
    with pytest.raises(BackendError) as caught:
        backends.chosen(Settings(backend="simulated"))

    assert str(caught.value) == (
        f"importing torch fails: {text}; `python -c 'import torch'` shows more"
    )


def _give(
    monkeypatch: pytest.MonkeyPatch, *, cuda: str | None, devices: int, hip: str | None = None
) -> None:
    """Let torch say that it is built for these versions, and that it sees devices."""
    monkeypatch.setattr(torch.version, "cuda", cuda)
    monkeypatch.setattr(torch.version, "hip", hip, raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: devices > 0)
