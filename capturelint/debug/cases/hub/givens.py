"""Values for configuration classes whose defaults, or few of whose layers, make no model that runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SERIES = {
    "prediction_length": 4,
    "context_length": 8,
    "lags_sequence": [1, 2, 3],
    "num_time_features": 1,
}
_SECTIONS = {
    "rope_parameters": {
        "rope_type": "default",
        "rope_theta": 10000.0,
        "mrope_section": [16, 24, 24],
    }
}
# By type, as of transformers 5.17.
_GIVENS: Mapping[str, Mapping[str, Any]] = {
    "autoformer": {**_SERIES, "label_length": 4, "moving_average": 3},
    "bamba": {"attn_layer_indices": [1, 3]},
    "deepseek_v2": {"num_experts_per_tok": 2, "moe_intermediate_size": 1408},
    "glm46v": {"text_config": _SECTIONS},
    "glm4v": {"text_config": _SECTIONS},
    "glm4v_text": _SECTIONS,
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "num_layers": 2},
    "informer": _SERIES,
    "jamba": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "expert_layer_period": 2,
        "expert_layer_offset": 1,
    },
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 16},
    "time_series_transformer": _SERIES,
}


def givens(kind: str) -> dict[str, Any]:
    """Return the values to make a configuration of the type `kind` with."""
    return dict(_GIVENS.get(kind, {}))
