"""A decoder like Llama with a static cache, of any size, with hazards planted deep in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# B batch, T tokens of a step (1), D width, H heads, G heads of keys and values, K width of a head,
# S positions in the cache.


@dataclass(frozen=True, slots=True)
class Size:
    """How large a decoder is, and what it runs on. `length`: positions in the cache.

    `cache`: `buffers` of the attention, one object as an `argument` of each step, or one that is
    made `fresh` for each. `hazards`: 0, 1 or 3. `dtype`: a name that torch has.
    """

    layers: int = 4
    width: int = 128
    heads: int = 4
    groups: int = 2
    inner: int = 256
    vocabulary: int = 512
    batch: int = 4
    length: int = 64
    dtype: str = "float32"
    cache: str = "argument"
    hazards: int = 0


SIZES: Mapping[str, Size] = {
    "tiny": Size(),
    "100m": Size(8, 768, 12, 4, 2048, 32000, length=512),
    "1b": Size(16, 2048, 32, 8, 8192, 32000, length=512, dtype="bfloat16"),
}


@dataclass
class Cache:
    """Keys and values by layer, each: (B, G, S, K)."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)


class Norm(nn.Module):
    """Divides by the root of the mean of squares."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        scale = x.float().square().mean(-1, keepdim=True).add(1e-5).rsqrt()
        return self.weight * (x.float() * scale).to(x.dtype)


class BranchingNorm(Norm):
    """Asks for a value of the device."""

    def forward(self, x: Tensor) -> Tensor:
        if x.abs().max() > 1000:  # branches
            x = x.clamp(-1000, 1000)
        return super().forward(x)


class Silu(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return functional.silu(x)


class ReadingSilu(Silu):
    """Reads a value of the device."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * (1.0 if x[0, 0, 0].item() > 1000 else 0.5)  # reads


class Mlp(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.gate = nn.Linear(size.width, size.inner, bias=False)
        self.up = nn.Linear(size.width, size.inner, bias=False)
        self.down = nn.Linear(size.inner, size.width, bias=False)
        self.act: nn.Module = Silu()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down(self.act(self.gate(x)) * self.up(x))
        return y


class Attention(nn.Module):
    def __init__(self, size: Size, number: int) -> None:
        super().__init__()
        self.number, self.heads, self.groups = number, size.heads, size.groups
        narrow = size.width // size.heads * size.groups
        self.q = nn.Linear(size.width, size.width, bias=False)
        self.k = nn.Linear(size.width, narrow, bias=False)
        self.v = nn.Linear(size.width, narrow, bias=False)
        self.out = nn.Linear(size.width, size.width, bias=False)
        if size.cache == "buffers":
            shape = _shape(size)
            self.register_buffer("keys", torch.zeros(shape), persistent=False)
            self.register_buffer("values", torch.zeros(shape), persistent=False)

    def forward(self, x: Tensor, position: Tensor, cache: Cache | None) -> Tensor:
        """Attend to what is cached up to `position`: (1,). x: (B, T, D)."""
        batch, tokens, width = x.shape
        q = self.q(x).view(batch, tokens, self.heads, -1).transpose(1, 2)
        k = self.k(x).view(batch, tokens, self.groups, -1).transpose(1, 2)
        v = self.v(x).view(batch, tokens, self.groups, -1).transpose(1, 2)
        own: Any = self  # buffers have no types
        keys: Tensor = own.keys if cache is None else cache.keys[self.number]
        values: Tensor = own.values if cache is None else cache.values[self.number]
        keys.index_copy_(2, position, k)
        values.index_copy_(2, position, v)
        seen = torch.arange(keys.shape[2], device=x.device) <= position
        y = functional.scaled_dot_product_attention(
            q, keys, values, attn_mask=seen[None, None, None], enable_gqa=True
        )
        found: Tensor = self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return found


class CountingAttention(Attention):
    """Counts its calls in Python."""

    calls = 0

    def forward(self, x: Tensor, position: Tensor, cache: Cache | None) -> Tensor:
        self.calls += 1  # counts
        return super().forward(x * (1 + self.calls), position, cache)


class Layer(nn.Module):
    def __init__(self, size: Size, number: int) -> None:
        super().__init__()
        self.before = Norm(size.width)
        self.attention = Attention(size, number)
        self.between = Norm(size.width)
        self.mlp = Mlp(size)

    def forward(self, x: Tensor, position: Tensor, cache: Cache | None) -> Tensor:
        x = x + self.attention(self.before(x), position, cache)
        y: Tensor = x + self.mlp(self.between(x))
        return y


class Decoder(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.embed = nn.Embedding(size.vocabulary, size.width)
        self.layers = nn.ModuleList(Layer(size, number) for number in range(size.layers))
        self.norm = Norm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)

    def forward(self, tokens: Tensor, position: Tensor, cache: Cache | None = None) -> Tensor:
        """Return logits: (B, 1, vocabulary). tokens: (B, 1), position: (1,)."""
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, position, cache)
        logits: Tensor = self.head(self.norm(x))
        return logits


def decoder(size: Size) -> Decoder:
    """Return a decoder on the device, with its hazards planted."""
    dtype: torch.dtype = getattr(torch, size.dtype)
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device("cuda"):
            return _planted(Decoder(size), size).eval()
    finally:
        torch.set_default_dtype(before)


def _planted(model: Decoder, size: Size) -> Decoder:
    layers: Any = model.layers
    if size.hazards:
        layers[size.layers // 2].mlp.act = ReadingSilu()
    if size.hazards > 1:
        layers[1].attention = CountingAttention(size, 1)
        layers[size.layers - 1].between = BranchingNorm(size.width)
    return model


def inputs_of(size: Size) -> Callable[[int], tuple[object, ...]]:
    """Return what makes tokens, a position and a cache for a seed."""
    kept = new_cache(size) if size.cache == "argument" else None

    def inputs(seed: int) -> tuple[object, ...]:
        generator = torch.Generator().manual_seed(seed)
        tokens = torch.randint(size.vocabulary, (size.batch, 1), generator=generator)
        position = torch.tensor([seed % size.length])
        if size.cache == "buffers":
            return tokens, position
        return tokens, position, new_cache(size) if kept is None else kept

    return inputs


def new_cache(size: Size) -> Cache:
    """Return an empty cache on the device."""
    dtype: torch.dtype = getattr(torch, size.dtype)
    one = [torch.zeros(_shape(size), dtype=dtype, device="cuda") for _ in range(2 * size.layers)]
    return Cache(one[::2], one[1::2])


def _shape(size: Size) -> tuple[int, int, int, int]:
    return size.batch, size.groups, size.length, size.width // size.heads
