"""Which backend is chosen."""

from __future__ import annotations

import builtins
from typing import Any

import pytest

from capturelint.debug import backends
from capturelint.debug.backend import BackendError

torch = pytest.importorskip("torch", reason="the simulator is of torch")


@pytest.mark.parametrize("name", ["auto", "simulated"])
def test_without_a_gpu_the_simulator_judges(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)

    backend, notes = backends.chosen(name)

    assert (backend.name, notes) == ("simulated", ())


def test_with_a_gpu_auto_says_that_the_simulator_judges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)

    automatic, wanted = backends.chosen("auto"), backends.chosen("simulated")

    assert automatic[0].name == "simulated"
    assert automatic[1] == ("a GPU is here, but this version judges on the simulator only",)
    assert wanted[1] == ()


@pytest.mark.parametrize("name", ["cuda", "gpu", ""])
def test_another_backend_is_refused(name: str) -> None:
    with pytest.raises(BackendError):
        backends.chosen(name)


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
        backends.chosen("simulated")

    assert str(caught.value) == (
        f"importing torch fails: {text}; `python -c 'import torch'` shows more"
    )
