"""Tensors: where operations leave them, their dtype and their rank."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


@pytest.mark.parametrize(
    ("made", "facts"),
    [
        ("torch.zeros(2)", "host tensor, rank 1"),
        ("torch.zeros(2, 3, device='cuda')", "device tensor, rank 2"),
        ("torch.zeros((2, 3), device=x.device)", "device tensor, rank 2"),
        ("torch.zeros(2, device='cpu')", "host tensor"),
        ("torch.zeros(2, device=torch.device('cpu'))", "host tensor"),
        ("torch.zeros(2, device=None)", "host tensor"),
        ("torch.tensor(1)", "host tensor, int, rank 0"),
        ("torch.tensor([1.0, 2.0])", "host tensor, float, rank 1"),
        ("torch.tensor([[True]], device='cuda')", "device tensor, bool, rank 2"),
        ("torch.arange(3)", "host tensor, int, rank 1"),
        ("torch.arange(3, device='cuda')", "device tensor, int, rank 1"),
        ("torch.full((2, 2), 1.0, device='cuda')", "device tensor, float, rank 2"),
        ("torch.empty(3, dtype=torch.bool)", "host tensor, bool"),
        ("torch.empty(3, pin_memory=True)", "host tensor, pinned"),
        ("torch.from_numpy(n)", "host tensor"),
        ("torch.as_tensor(x)", "device tensor"),
        ("torch.as_tensor([1])", "host tensor"),
        ("torch.zeros_like(x)", "device tensor"),
        ("torch.ones_like(x.cpu())", "host tensor"),
        ("torch.ones_like(x, dtype=torch.bool)", "device tensor, bool"),
        ("x.new_zeros(3)", "device tensor, rank 1"),
        ("x.new_tensor(3)", "device tensor, rank 0"),
        ("x.to('cpu')", "host tensor"),
        ("x.to(device='cpu', dtype=torch.long)", "host tensor, int"),
        ("x.cpu()", "host tensor"),
        ("x.cpu().to(x)", "device tensor"),
        ("x.cpu().cuda()", "device tensor"),
        ("x.cpu().to(x.device)", "device tensor"),
        ("x.cpu().to(torch.float32)", "host tensor, float"),
        ("x.cpu().pin_memory()", "host tensor, pinned"),
        ("x.to(torch.int64)", "device tensor, int"),
        ("x.bool()", "device tensor, bool"),
        ("x.cpu() + x", "device tensor"),
        ("x.cpu() + 1", "host tensor"),
        ("x[0]", "device tensor"),
        ("x.cpu()[0]", "host tensor"),
        ("torch.cat([x, x])", "device tensor"),
        ("torch.stack([x.cpu()])", "host tensor"),
        ("F.relu(x)", "device tensor"),
        ("F.relu(x.cpu())", "host tensor"),
        ("torch.nn.functional.softmax(x, -1)", "device tensor, float"),
        ("torch.linalg.norm(x)", "device tensor"),
        ("x.T", "device tensor"),
        ("x.grad", "device tensor, optional"),
        ("x.data", "device tensor"),
        ("x.numpy()", "host value"),
        ("x.unheard_of", "unknown"),
    ],
)
def test_where_a_tensor_is(made: str, facts: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, f"def step(x: Tensor, n):\n    {made}  #: {facts}\n")

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("read", "facts"),
    [
        ("x.shape", "shape-like"),
        ("x.shape[0]", "shape-like, rank 0"),
        ("x.size()", "shape-like"),
        ("x.size(0)", "shape-like, rank 0"),
        ("x.dim()", "shape-like"),
        ("x.numel() // 2", "host value"),
        ("x.dtype", "host value"),
        ("x.device", "host value"),
        ("x.ndim", "host value"),
        ("x.is_cuda", "host value, = True"),
        ("x.is_contiguous()", "host value"),
        ("torch.is_tensor(x)", "host value"),
        ("torch.finfo(x.dtype).min", "host value"),
    ],
)
def test_what_costs_no_read(read: str, facts: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, f"def step(x: Tensor):\n    {read}  #: {facts}\n")

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("operation", "facts"),
    [
        ("x.sum()", "device tensor, rank 0"),
        ("x.max()", "device tensor, rank 0"),
        ("x.max(dim=0)[0]", "device tensor"),
        ("x.max(x)", "device tensor"),
        ("x.topk(2)[1]", "device tensor, int"),
        ("x.argmax()", "device tensor, int, rank 0"),
        ("(x > 0).any()", "device tensor, bool, rank 0"),
        ("x.any(dim=0)", "device tensor, bool"),
        ("x.isnan()", "device tensor, bool, rank 2"),
        ("~(x > 0)", "device tensor, bool"),
        ("(x > 0) & (x < 1)", "device tensor, bool"),
        ("(x > 0) + 1", "device tensor, int"),
        ("x.long() / 2", "device tensor, float"),
        ("x.long() + 1", "device tensor, int"),
        ("x.long() * 0.5", "device tensor, float"),
        ("-x", "device tensor, rank 2"),
        ("x + 1", "device tensor, rank 2"),
        ("x * x.sum()", "device tensor, rank 2"),
        ("x[0]", "device tensor, rank 1"),
        ("x[0, 0]", "device tensor, rank 0"),
        ("x[:, 0]", "device tensor, rank 1"),
        ("x[..., None]", "device tensor, rank 3"),
        ("x[0].argmax()", "device tensor, int, rank 0"),
        ("x.view(-1)", "device tensor, rank 1"),
        ("x.reshape(1, 2, 3)", "device tensor, rank 3"),
        ("x.flatten()", "device tensor, rank 1"),
        ("x.unsqueeze(0)", "device tensor, rank 3"),
        ("x.float()", "device tensor, float, rank 2"),
        ("x.split(2)[0]", "device tensor"),
        ("x.nonzero()", "device tensor, int, rank 2"),
        ("torch.where(x > 0)[0]", "device tensor, int, rank 1"),
        ("torch.where(x > 0, x, 0)", "device tensor"),
        ("x.chunk(2, dim=-1)[1]", "device tensor"),
        ("x.unbind(0)[0]", "device tensor, rank 1"),
        ("x.clone().detach()", "device tensor, rank 2"),
        ("torch.sort(x)[1]", "device tensor, int"),
    ],
)
def test_dtype_and_rank_of_results(operation: str, facts: str, tmp_path: Path) -> None:
    text = f"def step(x: Tensor):\n    batch, width = x.shape\n    {operation}  #: {facts}\n"
    told = kinds(tmp_path, text)

    assert told.seen == told.wanted


@pytest.mark.parametrize("call", ["max(dim=0)", "min(0)", "topk(2)", "sort()", "median(dim=0)"])
def test_pairs_have_named_fields(call: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor):
            x.{call}.values  #: device tensor
            x.{call}.indices  #: device tensor, int
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "call", ["x.unsqueeze(0)", "x.masked_fill(m, 0)", "x.detach()", "torch.relu(x)", "x @ y"]
)
def test_a_value_is_a_tensor_where_only_a_tensor_can_stand(call: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(box, m, y: Tensor):
            x = box.field
            x  #: unknown
            {call}  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(("preset", "facts"), [((), "host tensor"), (("vllm",), "device tensor")])
def test_a_preset_may_say_that_models_are_built_on_the_device(
    preset: tuple[str, ...], facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.steps = torch.arange(3)

            def forward(self, x: Tensor):
                self.steps  #: {facts}
                torch.arange(3)  #: host tensor
        """,
        preset=preset,
    )

    assert told.seen == told.wanted
