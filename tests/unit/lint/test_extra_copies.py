"""Devices and generators in code of which nothing says that it is captured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import extra

_COPY = "def upload(x: Tensor, params, batch):\n    norm = torch.stack([p.norm() for p in params]).max()\n    return {}\n"


@pytest.mark.parametrize(
    "copy",
    [
        "torch.arange(4).to(norm.device)",
        "torch.tensor([1.0], device=norm.device)",
        "torch.tensor([1.0], device=torch.zeros(1, device=norm.device).device)",
        "torch.zeros(4, device='cuda').normal_(generator=torch.Generator('cuda'))",
    ],
)
def test_what_depends_on_who_captures_is_reported_in_captured_code_alone(
    tmp_path: Path, copy: str
) -> None:
    text = _COPY.format(copy)

    assert extra(tmp_path, text) == []
    assert [line for line, _ in map(str.split, extra(tmp_path, text, roots=("m.upload",)))] == ["3"]


@pytest.mark.parametrize(
    ("copy", "code"),
    [
        ("torch.tensor([1.0]).cuda(non_blocking=True)", "CL202"),
        ("torch.arange(4).to(x.device, non_blocking=True)", "CL202"),
        ("torch.arange(4).to(batch.device)", "CL202"),
        ("torch.tensor([1.0], device=batch.device)", "CL201"),
        ("torch.tensor([1.0], device=params[0].device)", "CL201"),
        ("torch.tensor([1.0], device=x.device)", "CL201"),
    ],
)
def test_a_copy_from_the_host_is_reported(tmp_path: Path, copy: str, code: str) -> None:
    assert extra(tmp_path, _COPY.format(copy)) == [f"3 {code}"]
