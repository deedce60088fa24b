"""Where tensors are by the names of parameters, and what factories and reductions leave open."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


def test_a_parameter_whose_name_says_host_is_on_the_host(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(lens_cpu, given_cpu, x_np):
            lens_cpu  #: host value
            given_cpu  #: host tensor
            x_np  #: host value

        def step(x: Tensor, lens_cpu, host_rows, y_cpu: Tensor, batch, cpus):
            lens_cpu  #: host value
            host_rows  #: host value
            y_cpu  #: host tensor
            batch.seq_lens_cpu  #: host tensor
            cpus  #: unknown
            helper(lens_cpu, x.cpu(), batch.unknown)
        """,
    )

    assert told.seen == told.wanted


def test_a_host_name_outweighs_what_isinstance_says_of_a_tensor(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, y_cpu: Tensor, z_cpu: Tensor | None, batch, odd):
            if isinstance(y_cpu, torch.Tensor):
                y_cpu  #: host tensor
            if isinstance(z_cpu, torch.Tensor):
                z_cpu  #: host tensor
            if isinstance(batch.lens_cpu, torch.Tensor):
                batch.lens_cpu  #: host tensor
            if isinstance(odd, torch.Tensor):
                odd  #: device tensor
            y = x.cpu() if batch else x.cpu() + 1
            if torch.is_tensor(y):
                y  #: host tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "parameter", ["y_cpu", "y_cpu=None", "scale=1.0", "y: Tensor | float = 1.0"]
)
@pytest.mark.parametrize("test", ["isinstance({}, Tensor)", "torch.is_tensor({})"])
def test_a_parameter_without_a_kind_of_its_own_may_be_a_tensor(
    parameter: str, test: str, tmp_path: Path
) -> None:
    name = parameter.partition("=")[0].partition(":")[0]
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, {parameter}):
            if {test.format(name)}:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        ("torch.zeros(2, **options)", "unknown"),
        ("torch.zeros(*sizes, **options)", "unknown"),
        ("torch.tensor([1], **options)", "unknown"),
        ("torch.zeros(2, device='cuda', **options)", "device tensor"),
        ("torch.zeros(2, device='cpu', **options)", "host tensor"),
        ("torch.zeros(2)", "host tensor"),
        ("torch.zeros_like(x, **options)", "device tensor"),
        ("torch.relu(x, **options)", "device tensor"),
    ],
)
def test_open_options_of_a_factory_may_hold_its_device(
    call: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, options, sizes):
            {call}  #: {facts}
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        ("x.max(0).values", "device tensor, float"),
        ("x.max(dim=0).indices", "device tensor, int"),
        ("x.cpu().min(0).values", "host tensor, float"),
        ("torch.max(x, 0).values", "device tensor, float"),
        ("torch.sort(x).values", "device tensor, float"),
        ("x.topk(2).indices", "device tensor, int"),
        ("x.kthvalue(2).values", "device tensor, float"),
        ("(x > 0).sum()", "device tensor, int, rank 0"),
        ("(x > 0).sum(0)", "device tensor, int"),
        ("(x > 0).cumsum(0)", "device tensor, int"),
        ("(x > 0).prod()", "device tensor, int, rank 0"),
        ("torch.sum(x > 0)", "device tensor, int, rank 0"),
        ("torch.cumsum(x > 0, 0)", "device tensor, int"),
        ("(x.cpu() > 0).sum()", "host tensor, int"),
        ("(x > 0).max()", "device tensor, bool"),
        ("(x > 0).any()", "device tensor, bool"),
        ("(x > 0).sum(0, dtype=torch.float32)", "device tensor, float"),
        pytest.param(
            "(x > 0).sum(dtype=torch.float32)",
            "device tensor, float",
        ),
        ("x.sum()", "device tensor, float, rank 0"),
    ],
)
def test_reductions_give_pairs_counts_and_dtypes(call: str, facts: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(given: Tensor):
            x = given.float()
            {call}  #: {facts}
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("expression", "facts"),
    [
        ("torch.arange(3) + offset", "host tensor"),
        ("offset % lens_cpu", "host tensor"),
        ("torch.tensor(2.0) * offset", "unknown"),
    ],
)
def test_a_tensor_on_the_host_stays_there_beside_what_is_not_known(
    expression: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, lens_cpu: Tensor, plan):
            offset = plan.offset
            {expression}  #: {facts}
        """,
    )

    assert told.seen == told.wanted


def test_what_a_loader_puts_on_a_parameter_is_told_by_its_name(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Linear(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.zeros(2))

            def forward(self, x: Tensor):
                self.weight.offsets_cpu  #: host tensor
                self.weight.offsets  #: unknown
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("given", "facts"),
    [
        ("*tensors", "device tensor, weak"),
        ("**options", "device tensor, weak"),
        ("*[torch.arange(2)]", "host tensor"),
        ("torch.arange(2), *tensors", "host tensor"),
    ],
)
def test_what_is_made_of_arguments_out_of_sight_is_not_on_the_host(
    given: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, tensors, options):
            torch.add({given})  #: {facts}
            for one in torch.meshgrid({given}):
                one  #: {facts}
        """,
    )

    assert told.seen == told.wanted
