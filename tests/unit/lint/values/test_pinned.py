"""Which tensors may lie in pinned memory, so that a graph may hold a copy of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import extra

_CODE = """
class Model(nn.Module):
    def __init__(self, pin, given):
        super().__init__()
        self.register_buffer("out", torch.zeros(32))
        self.p = torch.zeros(32, pin_memory=True)
        self.q = torch.zeros(32).pin_memory()
        self.like = torch.zeros_like(self.q, pin_memory=True)
        self.plain = torch.zeros(32)
        self.perhaps = torch.zeros(32).pin_memory() if pin else torch.zeros(32)
        self.array = self.p.numpy()
        self.table_cpu = given

    def forward(self, x: Tensor, lens_cpu: Tensor):
        mask = self.plain > 0
        picks = torch.tensor([0, 2])
        self.out.copy_({}, non_blocking=True)
        return x + self.upload(self.p[:4], x)

    def upload(self, part, x):
        return part.to(x.device, non_blocking=True)
"""
_VIEWS = [
    "self.p[:4]",
    "self.p[4]",
    "self.p[...]",
    "self.q[None, 2:]",
    "self.q.view(-1)",
    "self.q.view(4, 8).t()[0]",
    "self.p.reshape(4, 8).transpose(0, 1)",
    "self.p.narrow(0, 0, 4)",
    "self.p.select(0, 1)",
    "self.p.unsqueeze(0).squeeze(0)",
    "self.p.flatten()",
    "self.p.unbind()[0]",
    "self.p.split(4)[1]",
    "torch.chunk(self.p, 2)[0]",
    "self.p.expand(4, 32)",
    "self.p.detach().data.T",
    "self.p.cpu()",
    "self.p.to('cpu')",
    "self.p.float().contiguous()",
    "self.p.fill_(1.0)",
    "torch.as_tensor(self.p)",
    "torch.unsqueeze(self.p, 0)",
    "torch.from_numpy(self.array[:4])",
    "torch.from_numpy(self.p.numpy())",
    "self.like",
    "torch.cat([self.plain, self.plain], out=self.p)",
    "self.perhaps",
    "self.p if x.shape[0] > 4 else self.plain",
    "lens_cpu[:4]",
    "self.table_cpu[:4]",
    "x.to('cpu', non_blocking=True).view(-1)",
]
_NEW = [
    "self.plain",
    "self.plain[:4]",
    "self.p + 1",
    "-self.p",
    "self.p.clone()",
    "self.p.repeat(2)",
    "self.p.to(torch.int32)",
    "self.p.long()",
    "self.p.to('cpu', copy=True)",
    "self.p[[0, 2]]",
    "self.p[picks]",
    "self.p[mask]",
    "self.p.index_select(0, picks)",
    "torch.zeros_like(self.p)",
    "torch.stack([self.p, self.q])",
    "lens_cpu.clone()",
    "x.cpu()",
]


def _found(folder: Path, source: str) -> list[str]:
    code = _CODE.format(source)
    lines = extra(folder, code)
    return [line.split()[1] for line in lines]


@pytest.mark.parametrize("source", _VIEWS)
def test_what_lies_in_pinned_memory_may_be_copied_without_a_wait(
    tmp_path: Path, source: str
) -> None:
    assert "CL202" not in _found(tmp_path, source)


@pytest.mark.parametrize("source", _NEW)
def test_new_memory_is_not_pinned(tmp_path: Path, source: str) -> None:
    assert "CL202" in _found(tmp_path, source)


@pytest.mark.parametrize("waits", ["", ", non_blocking=False", ", False"])
def test_a_blocking_copy_of_pinned_memory_is_reported(tmp_path: Path, waits: str) -> None:
    code = _CODE.format("self.p").replace(
        ", non_blocking=True)\n        return x", f"{waits})\n        return x"
    )

    assert [line.split()[1] for line in extra(tmp_path, code)] == ["CL202"]
