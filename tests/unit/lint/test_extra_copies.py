"""Copies, devices and generators in code of which nothing says that it is captured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import extra

_COPY = "def upload(x: Tensor, params, batch):\n    return {}\n"


@pytest.mark.parametrize(
    "copy",
    [
        "torch.arange(x.shape[0]).to(x.device, non_blocking=True)",
        "torch.arange(x.shape[0]).cuda(non_blocking=True)",
        "torch.arange(4).to(params[0].device)",
        "torch.tensor([1.0], device=params[0].device)",
        "torch.tensor([1.0], device=torch.zeros(1, device=params[0].device).device)",
        "torch.zeros(4, device='cuda').normal_(generator=torch.Generator('cuda'))",
    ],
)
def test_a_copy_that_only_a_capture_would_refuse_is_reported_in_captured_code_alone(
    tmp_path: Path, copy: str
) -> None:
    text = _COPY.format(copy)

    assert extra(tmp_path, text) == []
    assert [line for line, _ in map(str.split, extra(tmp_path, text, roots=("m.upload",)))] == ["2"]


@pytest.mark.parametrize(
    ("copy", "code"),
    [
        ("torch.tensor([1.0]).cuda(non_blocking=True)", "CL202"),
        ("torch.arange(4).to(x.device)", "CL202"),
        ("torch.arange(4).to(batch.device)", "CL202"),
        ("torch.tensor([1.0], device=batch.device)", "CL201"),
        ("torch.tensor([1.0], device=x.device)", "CL201"),
    ],
)
def test_a_copy_that_the_host_waits_for_is_reported(tmp_path: Path, copy: str, code: str) -> None:
    assert extra(tmp_path, _COPY.format(copy)) == [f"2 {code}"]
