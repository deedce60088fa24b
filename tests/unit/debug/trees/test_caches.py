"""Trees and state of transformers' own key-value caches and outputs."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.states.state import Change, State
from capturelint.debug.trees.trees import ArgumentVariesError, copied, copy_into, leaves

pytest.importorskip("transformers", reason="about transformers' caches")

# What transformers warns about as it is imported is not ours to judge.
pytestmark = pytest.mark.filterwarnings("default")


def states(value: float, length: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.full((1, 2, length, 4), value), torch.full((1, 2, length, 4), -value)


def dynamic_cache(value: float, length: int = 3) -> Any:
    from transformers import DynamicCache

    cache = DynamicCache()
    cache.update(*states(value, length), 0)
    return cache


def static_cache() -> Any:
    from transformers import LlamaConfig, StaticCache

    config = LlamaConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=2
    )
    cache = StaticCache(config, max_cache_len=8)
    cache.update(*states(1.0, 2), 0)
    return cache


def tensors(tree: object) -> dict[str, torch.Tensor]:
    return {leaf.path: leaf.value for leaf in leaves(tree) if isinstance(leaf.value, torch.Tensor)}


def test_the_tensors_of_a_dynamic_cache_are_found() -> None:
    found = tensors({"past_key_values": dynamic_cache(1.0)})

    assert list(found) == ["past_key_values.layers[0].keys", "past_key_values.layers[0].values"]


def test_a_call_that_grows_a_copied_cache_leaves_the_cache() -> None:
    cache = dynamic_cache(1.0)

    copy = copied(cache)
    copy.update(*states(2.0, 1), 0)

    assert copy.get_seq_length() == 4
    assert cache.get_seq_length() == 3


def test_an_empty_cache_is_copied_too() -> None:
    from transformers import DynamicCache

    cache = DynamicCache()

    copy = copied(cache)
    copy.update(*states(2.0), 0)

    assert cache.get_seq_length() == 0


def test_a_grown_cache_varies() -> None:
    static = copied(dynamic_cache(1.0))

    with pytest.raises(ArgumentVariesError, match=r"layers\[0\].keys was .*3, 4.* and is .*4, 4"):
        copy_into(static, dynamic_cache(1.0, 4))


def test_a_static_cache_written_in_place_does_not_vary() -> None:
    cache = static_cache()
    static = copied(cache)
    keys = static.layers[0].keys

    cache.update(*states(3.0, 1), 0)
    copy_into(static, cache)

    assert static.layers[0].keys is keys
    assert keys[0, 0, :4, 0].tolist() == [1, 1, 3, 0]
    assert int(static.layers[0].cumulative_length) == 3


def test_a_model_output_is_copied_with_both_ways_to_its_values() -> None:
    from transformers.modeling_outputs import CausalLMOutputWithPast

    output = CausalLMOutputWithPast(
        logits=torch.ones(2),
        past_key_values=dynamic_cache(1.0),
    )

    copy = copied(output)

    assert copy.logits is copy["logits"]
    assert copy.logits is not output.logits
    assert copy.past_key_values is copy["past_key_values"]
    assert next(iter(tensors(copy))) == "logits"


def test_a_cache_that_a_module_keeps_in_a_list_is_told_and_put_back() -> None:
    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.caches = [dynamic_cache(1.0)]

        def forward(self) -> None:
            self.caches[0].update(*states(2.0, 1), 0)

    decoder = Decoder()
    state = State([decoder])
    before = state.save()

    decoder()
    assert state.changes(before, state.save()) == tuple(
        Change(
            f"caches[0].layers[0].{name}",
            "rebound",
            "float32 tensor (1, 2, 3, 4)",
            "float32 tensor (1, 2, 4, 4)",
        )
        for name in ("keys", "values")
    )
    state.restore(before)

    assert decoder.caches[0].get_seq_length() == 3
