"""Sizes shrink by their names; what tells nothing stays."""

from __future__ import annotations

import pytest

from capturelint.debug.cases.hub.sizes import Sizes

SIZES = Sizes(heads=4, head=2, inner=16, tokens={32000: 511})


@pytest.mark.parametrize(
    ("name", "value", "smaller"),
    [
        ("num_hidden_layers", 32, 2),
        ("encoder_layers", 1, 1),
        ("n_layer", 12, 2),
        ("depth", 24, 2),
        ("depths", [3, 4, 27, 3], [2, 2, 2, 2]),
        ("vocab_size", 32000, 512),
        ("vocab_size", 100, 100),
        ("hidden_size", 4096, 512),
        ("hidden_sizes", (96, 192), (12, 24)),
        ("d_model", 512, 64),
        ("intermediate_size", 11008, 688),
        ("projection_dim", 512, 64),
        ("num_attention_heads", 32, 8),
        ("num_key_value_heads", 2, 1),
        ("encoder_attention_heads", 8, 2),
        ("head_dim", 128, 64),
        ("num_experts", 64, 4),
        ("n_routed_experts", 256, 4),
        ("num_experts_per_tok", 8, 2),
        ("max_position_embeddings", 131072, 256),
        ("vocab_size_per_layer_input", 262144, 512),
        ("num_queries", 300, 20),
        ("num_kv_shared_layers", 15, 0),
        ("chunk_size", 256, 16),
        ("image_token_id", 32000, 511),
        ("eos_token_id", [2, 32000], [2, 511]),
        ("rope_parameters", {"mrope_section": [16, 24, 24]}, {"mrope_section": [8, 12, 12]}),
        ("rope_parameters", {"mrope_section": [1, 1, 2]}, {"mrope_section": [1, 1, 1]}),
    ],
)
def test_what_shrinks(name: str, value: object, smaller: object) -> None:
    assert SIZES.smaller(name, value) == smaller


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_channels", 3),
        ("in_channels", 1024),
        ("patch_size", 64),
        ("window_size", 64),
        ("max_img_size", 448),
        ("patch_embed_hidden_size", 768),
        ("conv_kernel_size", 64),
        ("num_mel_bins", 80),
        ("type_vocab_size", 2),
        ("codebook_size", 1024),
        ("num_feat_extract_layers", 7),
        ("num_conv_layers", 2),
        ("encode_proj_layers", [2]),
        ("hidden_size", 36),
        ("hidden_size", 16),
        ("chunk_size", -1),
        ("tie_word_embeddings", True),
        ("use_heads", False),
        ("layer_types", ["a", "b"]),
        ("hidden_act", "silu"),
        ("dropout", 0.1),
        ("rope_parameters", {"rope_theta": 1e4}),
    ],
)
def test_what_stays(name: str, value: object) -> None:
    assert SIZES.smaller(name, value) == value


@pytest.mark.parametrize(
    ("value", "patch", "smaller"),
    [(224, 16, 112), (224, 14, 56), (1024, 16, 64), (96, 16, 48), (224, 15, 224), (224, None, 224)],
)
def test_images_keep_whole_patches(value: int, patch: int | None, smaller: int) -> None:
    assert SIZES.smaller("image_size", value, patch) == smaller


def test_images_stay_where_they_are_to() -> None:
    assert Sizes(heads=4, head=2, inner=16, images=False).smaller("image_size", 224, 16) == 224
