"""Attributes of `self` and of other objects, from what their classes store and declare."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


def test_the_constructor_says_what_an_attribute_is(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self, width: int, names):
                super().__init__()
                self.width, self.half = width, width // 2
                self.names = names
                self.linear = nn.Linear(width, width)
                self.scale = nn.Parameter(torch.ones(width))
                self.steps = torch.arange(width)
                self.register_buffer("table", torch.arange(width))
                self.register_buffer("absent", None)

            def forward(self, x: Tensor):
                self.width  #: host value
                self.half  #: host value
                self.names  #: unknown
                self.linear  #: module
                self.linear(x)  #: device tensor, float
                self.linear.weight  #: device tensor
                self.linear.bias  #: device tensor, optional
                self.scale  #: device tensor
                self.steps  #: host tensor, int
                self.table  #: device tensor, int, rank 1
                self.absent  #: host value, = None
                self.nowhere  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_what_other_methods_store_counts_too(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.bias = None
                self.count = 0
                self.either = 0
                self.rows = []

            def prepare(self, bias: Tensor):
                self.bias = bias
                self.count += 1
                self.either = bias
                self.rows.append(bias)
                self.mask = bias > 0

            def forward(self, x: Tensor):
                self.bias  #: device tensor, optional
                self.count  #: host value
                self.either  #: device tensor, mixed
                self.rows[0]  #: device tensor
                self.mask  #: device tensor, bool
        """,
    )

    assert told.seen == told.wanted


def test_attributes_are_inherited_across_files(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from base import Base

        class Model(Base):
            def forward(self, x: Tensor):
                self.scale  #: device tensor
                self.scaled(x)  #: device tensor
                self.heads  #: host value
                super().scaled(x)  #: device tensor
        """,
        {
            "base.py": """
            import torch
            from torch import nn

            class Base(nn.Module):
                heads = 4

                def __init__(self):
                    super().__init__()
                    self.register_buffer("scale", torch.ones(4))

                def scaled(self, x):
                    return x * self.scale
            """
        },
    )

    assert told.seen == told.wanted


def test_a_base_knows_what_all_its_children_store(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Base(nn.Module):
            def forward(self, x: Tensor):
                self.scale  #: device tensor
                self.size  #: host value
                self.mixed  #: device tensor, mixed

        class Left(Base):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(1))
                self.size = 1
                self.mixed = 1

        class Right(Base):
            def __init__(self):
                super().__init__()
                self.scale = nn.Parameter(torch.ones(2))
                self.size = 2
                self.mixed = nn.Parameter(torch.ones(2))
        """,
    )

    assert told.seen == told.wanted


def test_annotations_of_a_class_declare_its_fields(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from dataclasses import dataclass

        @dataclass
        class Batch:
            tokens: torch.Tensor
            sizes: list[int]
            seq_lens_cpu: torch.Tensor
            mask: "Tensor | None" = None
            name: str = "x"
            inner: "Batch" = None

        def step(batch: Batch):
            batch.tokens  #: device tensor
            batch.sizes[0]  #: host value
            batch.seq_lens_cpu  #: host tensor
            batch.mask  #: device tensor, optional
            batch.name  #: host value
            batch.inner.tokens  #: device tensor
            made = Batch(1, 2, 3)
            made.tokens  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_property_is_what_it_returns(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from functools import cached_property

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", torch.ones(3))

            @property
            def first(self):
                return self.table[0]

            @property
            def size(self) -> int:
                return self.unknown_thing()

            @cached_property
            def once(self) -> Tensor:
                return self.made_somehow()

            def forward(self, x: Tensor):
                self.first  #: device tensor, rank 0
                self.size  #: host value
                self.once  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_setattr_with_a_known_or_an_unknown_name(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                setattr(self, "bias", nn.Parameter(torch.ones(1)))
                for i in range(3):
                    setattr(self, f"norm{i}", nn.LayerNorm(4))

            def forward(self, x: Tensor):
                self.bias  #: device tensor
                getattr(self, "bias")  #: device tensor
                getattr(self, "bias", None)  #: device tensor, optional
                self.norm1(x)  #: device tensor
                getattr(self, f"norm{x.shape[0]}")(x)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_containers_of_modules_hold_their_elements(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Layer(nn.Module):
            def forward(self, x):
                return x * 2, x.cpu()

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([Layer() for _ in range(3)])
                self.by_name = nn.ModuleDict({"a": Layer(), "b": Layer()})
                self.weights = nn.ParameterList([nn.Parameter(torch.ones(1))])

            def forward(self, x: Tensor):
                for layer in self.layers:
                    layer  #: module
                    layer(x)[0]  #: device tensor
                    layer(x)[1]  #: host tensor
                self.layers[0](x)[1]  #: host tensor
                for layer in self.layers[1:]:
                    layer(x)[1]  #: host tensor
                self.by_name["a"](x)[1]  #: host tensor
                for name, layer in self.by_name.items():
                    name  #: host value
                    layer(x)[1]  #: host tensor
                self.weights[0]  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_list_of_modules_may_be_filled_one_by_one(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Layer(nn.Module):
            def forward(self, x):
                return x.cpu()

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.rows = nn.ModuleList()
                for _ in range(3):
                    self.rows.append(Layer())

            def forward(self, x: Tensor):
                self.rows[0](x)  #: host tensor
                for row in self.rows:
                    row(x)  #: host tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "chain",
    [
        "nn.Linear(2, 2)",
        pytest.param(
            "OrderedDict(a=nn.Linear(2, 2))",
        ),
        pytest.param(
            "*[nn.Linear(2, 2) for _ in range(3)]",
        ),
        pytest.param(
            "nn.Linear(2, 2), nn.ReLU()",
        ),
    ],
)
def test_a_sequence_of_layers_gives_a_tensor(chain: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        from collections import OrderedDict

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.chain = nn.Sequential({chain})

            def forward(self, x: Tensor):
                self.chain(x)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_configuration_objects_hold_python_values(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self, config, vllm_config):
                super().__init__()
                self.config = config
                self.limit = config.limit
                self.width = vllm_config.model.width

            def forward(self, x: Tensor, cfg):
                self.config.heads  #: host value
                self.limit  #: host value
                self.width  #: host value
                cfg.anything  #: host value
        """,
    )

    assert told.seen == told.wanted


def test_a_name_that_says_host_is_believed(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Meta:
            def __init__(self, lens: Tensor):
                self.seq_lens_cpu = lens
                self.host_lens = lens
                self.seq_lens = lens
                self.cpuish = lens

        def step(meta: Meta, seq_lens_cpu: Tensor, lens_np: Tensor, cpu_lens, lens: Tensor):
            meta.seq_lens_cpu  #: host tensor
            meta.host_lens  #: host tensor
            meta.seq_lens  #: device tensor
            meta.cpuish  #: device tensor
            seq_lens_cpu  #: host tensor
            lens_np  #: host tensor
            lens  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_tensor_on_the_host_that_is_set_anew_varies(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.fixed = torch.ones(3)
                self.counter = torch.zeros(1)

            def update(self):
                self.counter.add_(1)

            def forward(self, x: Tensor):
                self.fixed  #: host tensor, not varies
                self.counter  #: host tensor, varies
        """,
    )

    assert told.seen == told.wanted
