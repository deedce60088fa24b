"""The search takes the smallest model that runs, and tells how far it came where none does."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.cases.hub.search import CannotMakeError, Recipe, recipe_of
from capturelint.debug.cases.hub.shrinking import Shrinkage


class Config:
    model_type = "any"

    def __init__(
        self, hidden_size: int = 256, num_attention_heads: int = 4, vocab_size: int = 50
    ) -> None:
        self.hidden_size = hidden_size
        self.num_attention_heads = num_attention_heads
        self.vocab_size = vocab_size

    def to_dict(self) -> dict[str, Any]:
        return vars(self)


class Model(nn.Module):
    main_input_name = "input_ids"

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab_size, config.hidden_size)

    @classmethod
    def _from_config(cls, config: Config) -> Model:
        return cls(config)

    def can_generate(self) -> bool:
        return False

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.embedding(input_ids)
        return found


class Wide(Model):
    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.embedding(input_ids)
        if found.shape[-1] != 256:
            raise RuntimeError("not 256")
        return found


class Unbuilt(Model):
    def __init__(self, _config: Config) -> None:
        raise ImportError("\nUnbuilt requires the natten library\nbut it was not found")


class Undrawn(Model):
    main_input_name = "states"

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        return states


class Huge(Model):
    def __init__(self, config: Config) -> None:
        super().__init__(config)
        self.weight = nn.Parameter(torch.empty(20_000, 20_000))


def test_the_smallest_that_runs_is_taken() -> None:
    recipe, plan = recipe_of(Config(), [Model])

    assert recipe.shrinkage == Shrinkage(heads=4, head=4, inner=16, images=True)
    assert recipe.built().embedding.weight.shape == (50, 32)
    assert not recipe.built().training
    assert list(plan) == ["input_ids"]


def test_code_that_counts_on_a_size_gets_it() -> None:
    recipe, _ = recipe_of(Config(), [Wide])

    assert recipe.shrinkage == Shrinkage()


def test_another_class_is_tried_where_one_cannot_be_built() -> None:
    recipe, _ = recipe_of(Config(), [Unbuilt, Model])

    assert recipe.model is Model


@pytest.mark.parametrize(
    ("models", "message"),
    [
        ([Huge], "Huge stays too large"),
        ([Unbuilt], "Unbuilt cannot be built: ImportError: Unbuilt requires the natten library"),
        ([Undrawn], "Undrawn needs states, which cannot be drawn"),
        ([Unbuilt, Undrawn], "Undrawn needs states, which cannot be drawn"),
    ],
)
def test_the_try_that_came_furthest_is_told(models: list[Any], message: str) -> None:
    with pytest.raises(CannotMakeError) as error:
        recipe_of(Config(), models)

    assert str(error.value) == message


def test_a_model_that_does_not_run_says_why() -> None:
    class Broken(Model):
        def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
            raise NotImplementedError("no kernel")

    with pytest.raises(CannotMakeError) as error:
        recipe_of(Config(), [Unbuilt, Broken])

    assert str(error.value) == "Broken does not run: NotImplementedError: no kernel"


def test_a_class_that_writes_into_its_configuration_harms_no_other() -> None:
    class Writing(Model):
        def __init__(self, config: Config) -> None:
            config.hidden_size += 1
            super().__init__(config)

    config = Config()
    recipe = Recipe(Writing, config, None)

    assert [recipe.built().config.hidden_size for _ in range(2)] == [257, 257]
