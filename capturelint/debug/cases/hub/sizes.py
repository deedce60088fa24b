"""Smaller values for what a model's configuration holds, told by their names.

All numbers of heads are divided by one number, all sizes of a head by another, and all widths by
both, so that what must agree still does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

# The vocabulary of a tiny model; ids of special tokens above the plain ones move to its end.
VOCABULARY = 512
PLAIN_TOKENS = 400

_LAYERS = re.compile(r"((num|n)_)?(\w+_)?(layers?|depth)")
_NOT_LAYERS = re.compile(r"\w*(adapter|conv|feat|nextn|postnet|select|shared|window)\w*")
_WIDTHS = re.compile(
    r"(\w+_)?(channel_list|channels|d_ff|d_kv|d_model|dims?|embd|filters|inner|rank|sizes?|units"
    r"|width)(_per_stage|_global)?"
)
_NOT_WIDTHS = re.compile(
    r"(\w+_)?(audio|background|batch|block|bucket|buffer|chunk|codebook|context|crop|d|feat|feature"
    r"|grid|group|image|img|in|input|kernel|level|max|mel|merge|num|patch|pool|receptive|roi|sampling"
    r"|seq|spatial|state|step|stride|target|tile|token|tubelet|type|vocab|window)_"
    r"(channels|dims?|sizes?|width)(_per_stage)?|patch_embed_hidden_size"
)
_INNER = re.compile(r"(\w+_)?(d_ff|feedforward_dim|ffn_dim|intermediate_size|mlp_dim|n_inner)")
_HEADS = re.compile(
    r"(\w+_)?(n|num)_(\w+_)?heads?(_per_stage)?|(encoder_|decoder_)?attention_heads"
)
_HEAD_SIZES = re.compile(
    r"(\w+_)?head_(dim|size)|d_kv|d_head|mamba_d_head|(\w+_)?dim_head|rotary_dim"
)
_TOKENS = re.compile(r"(\w+_)?(token_ids?|token_index|idx)")
_LIMITS = (
    (re.compile(r"(\w+_)?vocab_size(_\w+)?"), VOCABULARY),
    (re.compile(r"(\w+_)?(num|n)_(\w+_)?experts"), 4),
    (re.compile(r"(num_|moe_)?(experts_per_tok(en)?|topk|top_k|k)"), 2),
    (re.compile(r"num_(\w+_)?(queries|proposals)"), 20),
    (re.compile(r"(\w+_)?chunk_size"), 16),
    (re.compile(r"(n|topk)_group|first_k_dense_replace"), 1),
    # The few layers that are left all have keys of their own.
    (re.compile(r"num_kv_shared_layers"), 0),
    (re.compile(r"(\w+_)?max_(position_embeddings|\w+_positions)|n_positions"), 256),
)
_LAYERS_KEPT = 2
_SMALLEST_WIDTH = 4
_MOST_PATCHES = 4  # on a side, if halving comes to it


@dataclass(frozen=True, slots=True)
class Sizes:
    """How to shrink the values of one model.

    `heads`, `head`: what numbers of heads and sizes of a head are divided by. `inner`: what widths
    inside one layer are divided by, or more. `images`: whether they shrink too. `tokens`: new ids
    of special tokens.
    """

    heads: int
    head: int
    inner: int
    images: bool = True
    tokens: Mapping[int, int] = field(default_factory=dict)

    def smaller(self, name: str, value: object, patch: int | None = None) -> object:
        """Return what is to stand for `value`, or `value` where its name tells nothing.

        `patch`: size of a side of one patch in pixels, where images are cut into such.
        """
        if isinstance(value, dict) and "mrope_section" in value:
            return {**value, "mrope_section": self._sections(value["mrope_section"])}
        if isinstance(value, list | tuple) and all(type(one) is int for one in value):
            return type(value)(self._item(name, one, patch) for one in value)
        return self._number(name, value, patch) if type(value) is int else value

    def _item(self, name: str, value: int, patch: int | None) -> int:
        # The layers of each stage; other lists about layers have one number for each of them.
        if name == "depths":
            return min(value, _LAYERS_KEPT)
        return value if is_layers(name) else self._number(name, value, patch)

    def _number(self, name: str, value: int, patch: int | None) -> int:
        if is_layers(name):
            return min(value, _LAYERS_KEPT)
        if _TOKENS.fullmatch(name):
            return self.tokens.get(value, value)
        for pattern, most in _LIMITS:
            if pattern.fullmatch(name):
                return min(value, most)
        if name.endswith("image_size"):
            return _image(value, patch) if self.images else value
        if is_heads(name):
            return max(1, value // self.heads)
        if is_head_size(name):
            return _divided(value, self.head)
        if _INNER.fullmatch(name):
            return _divided(value, max(self.inner, self.heads * self.head))
        if _WIDTHS.fullmatch(name) and not _NOT_WIDTHS.fullmatch(name):
            return _divided(value, self.heads * self.head)
        return value

    def _sections(self, sections: list[int]) -> list[int]:
        """Return parts of a rotary dimension that add up to the shrunk one."""
        _, *others = (max(1, one // self.head) for one in sections)
        return [max(1, sum(sections) // self.head - sum(others)), *others]


def is_layers(name: str) -> bool:
    """Return whether a value of this name is a number of layers."""
    return bool(_LAYERS.fullmatch(name)) and not _NOT_LAYERS.fullmatch(name)


def is_heads(name: str) -> bool:
    """Return whether a value of this name is a number of attention heads, or of others' heads."""
    return bool(_HEADS.fullmatch(name))


def is_head_size(name: str) -> bool:
    """Return whether a value of this name is the width of one head."""
    return bool(_HEAD_SIZES.fullmatch(name))


def is_token(name: str) -> bool:
    """Return whether a value of this name is the id of a special token, or several."""
    return bool(_TOKENS.fullmatch(name))


def _divided(value: int, by: int) -> int:
    return value // by if value % by == 0 and value // by >= _SMALLEST_WIDTH else value


def _image(value: int, patch: int | None) -> int:
    """Return a smaller side of an image, of as few whole patches as halving comes to."""
    if not patch or value % patch:
        return value
    patches = value // patch
    while patches % 2 == 0 and patches > _MOST_PATCHES:
        patches //= 2
    return patches * patch
