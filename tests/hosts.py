"""Real models to plant hazards in, small and with random weights: their inputs, and where to plant.

`B` batch, `S` sequence, `D` width. Each model is captured and replays what eager computes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import torch
from torch import Tensor, nn

Inputs = Callable[[int], Any]


@dataclass(frozen=True, slots=True)
class Host:
    """One model. `make`: returns it, and its inputs by seed.

    `places`: paths of deep modules that return one tensor; the first calls no other module.
    `source`: the module that it is from, or "" for torch and this file.
    """

    make: Callable[[], tuple[nn.Module, Inputs]]
    places: tuple[str, str]
    source: str = ""

    @property
    def needs(self) -> str:
        """Return the package that it is from, or ""."""
        return self.source.partition(".")[0]


def transformer() -> tuple[nn.Module, Inputs]:
    """Return torch's encoder and decoder."""
    model = nn.Transformer(32, 4, 2, 2, 64, dropout=0.0, batch_first=True)
    return model.eval(), lambda seed: (normal(seed, 2, 6, 32), normal(seed + 50, 2, 5, 32))


def encoder() -> tuple[nn.Module, Inputs]:
    """Return torch's encoder, without the fused path that would pass by the modules in it."""
    torch.backends.mha.set_fastpath_enabled(False)
    layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 3, enable_nested_tensor=False)
    return model.eval(), lambda seed: (normal(seed, 2, 6, 32),)


class Block(nn.Module):
    """Two convolutions around a residual: (B, C, H, W)."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(outside)
        self.shortcut = nn.Conv2d(inside, outside, 1, stride, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        y = torch.relu(self.bn1(self.conv1(x)))
        return torch.relu(self.bn2(self.conv2(y)) + self.shortcut(x))


class ResNet(nn.Module):
    """A small residual network: (B, 3, H, W) to (B, 10)."""

    def __init__(self, width: int = 8, depth: int = 2) -> None:
        super().__init__()
        self.stem = nn.Conv2d(3, width, 3, padding=1, bias=False)
        widths = [width << stage for stage in range(3)]
        self.stages = nn.ModuleList(
            nn.Sequential(
                Block(max(width, outside // 2), outside, stride=2),
                *(Block(outside, outside, stride=1) for _ in range(depth - 1)),
            )
            for outside in widths
        )
        self.head = nn.Linear(widths[-1], 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        logits: Tensor = self.head(x.mean((2, 3)))
        return logits


def resnet() -> tuple[nn.Module, Inputs]:
    """Return a residual network in training mode: its batch norms count and keep statistics."""
    return ResNet().train(), lambda seed: (normal(seed, 2, 3, 16, 16),)


def llama() -> tuple[nn.Module, Inputs]:
    """Return a decoder from transformers."""
    library = _transformers()
    model = library.LlamaForCausalLM(library.LlamaConfig(**_TEXT, num_key_value_heads=2))
    return model.eval(), lambda seed: {"input_ids": words(seed, 2, 8)}


def bert() -> tuple[nn.Module, Inputs]:
    """Return an encoder from transformers."""
    library = _transformers()
    model = library.BertModel(library.BertConfig(**_TEXT))
    return model.eval(), lambda seed: {"input_ids": words(seed, 2, 8)}


def mamba() -> tuple[nn.Module, Inputs]:
    """Return a state space model from transformers."""
    library = _transformers()
    sizes = {"vocab_size": 100, "hidden_size": 32, "num_hidden_layers": 2, "state_size": 4}
    model = library.MambaForCausalLM(library.MambaConfig(**sizes))
    return model.eval(), lambda seed: {"input_ids": words(seed, 2, 8)}


def vit() -> tuple[nn.Module, Inputs]:
    """Return a vision model from transformers."""
    library = _transformers()
    layers = {name: size for name, size in _TEXT.items() if name != "vocab_size"}
    model = library.ViTModel(library.ViTConfig(**layers, image_size=32, patch_size=8))
    return model.eval(), lambda seed: {"pixel_values": normal(seed, 2, 3, 32, 32)}


def whisper() -> tuple[nn.Module, Inputs]:
    """Return an audio model from transformers, with an encoder and a decoder."""
    library = _transformers()
    sides = {
        f"{side}_{name}": size
        for side in ("encoder", "decoder")
        for name, size in (("layers", 2), ("attention_heads", 4), ("ffn_dim", 64))
    }
    tokens = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    sizes = {"vocab_size": 100, "d_model": 32, "max_source_positions": 20, "num_mel_bins": 16}
    model = library.WhisperModel(library.WhisperConfig(**sides, **tokens, **sizes))
    return model.eval(), lambda seed: {
        "input_features": normal(seed, 2, 16, 40),
        "decoder_input_ids": words(seed, 2, 6),
    }


_LIBRARY = "transformers"
_MODELS = "transformers.models"

_TEXT: Mapping[str, int] = {
    "vocab_size": 100,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
}

HOSTS: Mapping[str, Host] = {
    "transformer": Host(transformer, ("decoder.layers.1.linear2", "encoder.layers.0")),
    "encoder": Host(encoder, ("layers.2.linear1", "layers.1")),
    "resnet": Host(resnet, ("stages.1.0.conv2", "stages.2.1")),
    "llama": Host(
        llama,
        ("model.layers.1.mlp.down_proj", "model.layers.0.mlp"),
        f"{_MODELS}.llama.modeling_llama",
    ),
    "bert": Host(
        bert,
        ("encoder.layer.1.output.dense", "encoder.layer.0.output"),
        f"{_MODELS}.bert.modeling_bert",
    ),
    "mamba": Host(
        mamba,
        ("backbone.layers.1.mixer.out_proj", "backbone.layers.0.mixer"),
        f"{_MODELS}.mamba.modeling_mamba",
    ),
    "vit": Host(vit, ("layers.1.mlp.fc1", "layers.0.mlp"), f"{_MODELS}.vit.modeling_vit"),
    "whisper": Host(
        whisper, ("decoder.layers.1.fc2", "encoder.layers.0"), f"{_MODELS}.whisper.modeling_whisper"
    ),
}


def normal(seed: int, *shape: int) -> Tensor:
    """Return normal numbers, made on the host."""
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def words(seed: int, *shape: int) -> Tensor:
    """Return token ids below 100, made on the host."""
    return torch.randint(3, 100, shape, generator=torch.Generator().manual_seed(seed))


def _transformers() -> Any:
    # Not an import: type checkers need not have it.
    return import_module(_LIBRARY)
