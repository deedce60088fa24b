"""A decoder like Llama, of any size, with or without a static cache, and with hazards planted deep in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

# B batch, S tokens of a call, T positions in the cache, W width, H heads, G of keys and values, K width of a head.


@dataclass(frozen=True, slots=True)
class Size:
    """How large a decoder is, and what it runs on. `batch`, `length`: rows and positions in the cache.

    `cache`: `buffers` of the attention, one object as an `argument` of each step, one that is made
    `fresh` for each, or `none`. `hazards`: 0, 1 or 3. `dtype`: a name that torch has.
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
    """Keys and values by layer, each: (B, T, G, K)."""

    keys: list[Tensor] = field(default_factory=list)
    values: list[Tensor] = field(default_factory=list)


class Norm(nn.Module):
    """Divides by the root of the mean of squares."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        scale = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + 1e-6)
        return self.weight * (x * scale.to(x.dtype))


class BranchingNorm(Norm):
    """Asks for a value of the device."""

    def forward(self, x: Tensor) -> Tensor:
        if x.abs().max() > 1000:  # branches
            x = x.clamp(-1000, 1000)
        return super().forward(x)


class ReadingSilu(nn.SiLU):
    """Reads a value of the device."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x) * (1.0 if x[0, 0, 0].item() > 1000 else 0.5)  # reads


class Mlp(nn.Module):
    def __init__(self, size: Size) -> None:
        super().__init__()
        self.gate = nn.Linear(size.width, size.inner, bias=False)
        self.up = nn.Linear(size.width, size.inner, bias=False)
        self.down = nn.Linear(size.inner, size.width, bias=False)
        self.act: nn.Module = nn.SiLU()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.down(self.act(self.gate(x)) * self.up(x))
        return y


@dataclass(frozen=True, slots=True)
class Place:
    """Where the tokens of a step stand. `rows`, `positions`: (B,), where they are cached.

    `mask`: of the positions that are seen, (B, 1, 1, T).
    """

    rows: Tensor
    positions: Tensor
    mask: Tensor


class Attention(nn.Module):
    """Attention of x (B, S, W); with a cache S is 1, and without one each token sees those before it."""

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

    def forward(self, x: Tensor, place: Place | None, cache: Cache | None) -> Tensor:
        batch, tokens, width = x.shape
        q = self.q(x).view(batch, tokens, self.heads, -1)
        k = self.k(x).view(batch, tokens, self.groups, -1)
        v = self.v(x).view(batch, tokens, self.groups, -1)
        if place is not None:
            k, v = self._cached(k, v, place, cache)
        repeats = self.heads // self.groups
        y = functional.scaled_dot_product_attention(
            q.transpose(1, 2),
            k.repeat_interleave(repeats, dim=2).transpose(1, 2),
            v.repeat_interleave(repeats, dim=2).transpose(1, 2),
            attn_mask=None if place is None else place.mask,
            is_causal=place is None,
        )
        found: Tensor = self.out(y.transpose(1, 2).reshape(batch, tokens, width))
        return found

    def _cached(
        self, k: Tensor, v: Tensor, place: Place, cache: Cache | None
    ) -> tuple[Tensor, Tensor]:
        """Write into the cache, and return all that these rows have there."""
        own: Any = self  # buffers have no types
        keys: Tensor = own.keys if cache is None else cache.keys[self.number]
        values: Tensor = own.values if cache is None else cache.values[self.number]
        where = (place.rows, place.positions)
        keys.index_put_(where, k[:, 0])
        values.index_put_(where, v[:, 0])
        return keys[: len(k)], values[: len(v)]


class CountingAttention(Attention):
    """Counts its calls in Python."""

    calls = 0

    def forward(self, x: Tensor, place: Place | None, cache: Cache | None) -> Tensor:
        self.calls += 1  # counts
        return super().forward(x * (1 + self.calls), place, cache)


class Layer(nn.Module):
    def __init__(self, size: Size, number: int) -> None:
        super().__init__()
        self.before = Norm(size.width)
        self.attention = Attention(size, number)
        self.between = Norm(size.width)
        self.mlp = Mlp(size)

    def forward(self, x: Tensor, place: Place | None, cache: Cache | None) -> Tensor:
        x = x + self.attention(self.before(x), place, cache)
        y: Tensor = x + self.mlp(self.between(x))
        return y


class Decoder(nn.Module):
    """From tokens (B, S), and positions (B,) where there is a cache, to logits (B, vocabulary)."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.embed = nn.Embedding(size.vocabulary, size.width)
        self.layers = nn.ModuleList(Layer(size, number) for number in range(size.layers))
        self.norm = Norm(size.width)
        self.head = nn.Linear(size.width, size.vocabulary, bias=False)
        self.rows: Tensor
        self.places: Tensor
        self.register_buffer("rows", torch.arange(size.batch))
        self.register_buffer("places", torch.arange(size.length))

    def forward(
        self, tokens: Tensor, positions: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        place = None
        if positions is not None:
            mask = (self.places <= positions[:, None])[:, None, None]
            place = Place(self.rows[: len(tokens)], positions, mask)
        x = self.embed(tokens)
        for layer in self.layers:
            x = layer(x, place, cache)
        logits: Tensor = self.head(self.norm(x[:, -1]))
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


def inputs_of(size: Size) -> Callable[..., tuple[object, ...]]:
    """Return what makes tokens, positions and a cache for a seed and a batch, as the decoder takes them."""
    kept = new_cache(size) if size.cache == "argument" else None

    def inputs(seed: int, batch_size: int = size.batch) -> tuple[object, ...]:
        generator = torch.Generator().manual_seed(seed)
        tokens = torch.randint(size.vocabulary, (batch_size, 1), generator=generator)
        positions = torch.randint(size.length, (batch_size,), generator=generator)
        if size.cache == "buffers":
            return tokens, positions
        return tokens, positions, new_cache(size) if kept is None else kept

    return inputs


def new_cache(size: Size) -> Cache:
    """Return an empty cache on the device."""
    dtype: torch.dtype = getattr(torch, size.dtype)
    one = [torch.zeros(_shape(size), dtype=dtype, device="cuda") for _ in range(2 * size.layers)]
    return Cache(one[::2], one[1::2])


def _shape(size: Size) -> tuple[int, int, int, int]:
    return size.batch, size.length, size.groups, size.width // size.heads
