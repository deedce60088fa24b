"""A configuration shrinks as a whole: what must agree still does, and no kind of layer is lost."""

from __future__ import annotations

from typing import Any

import pytest

from capturelint.debug.cases.hub.shrinking import Shrinkage, configs, known, shrunk, special_tokens

MOST = Shrinkage(heads=4, head=4, inner=16, images=True)


class Config:
    """Stand for a configuration of a library: values by name, some made from others."""

    model_type = "any"

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        return vars(self)


class Text(Config):
    def __init__(
        self,
        vocab_size: int = 32000,
        hidden_size: int = 512,
        num_hidden_layers: int = 6,
        num_attention_heads: int = 8,
        head_dim: int | None = None,
        layer_types: list[str] | None = None,
        eos_token_id: int = 31999,
    ) -> None:
        pattern = ["sliding", "sliding", "full"]
        super().__init__(
            vocab_size=vocab_size,
            hidden_size=hidden_size,
            num_hidden_layers=num_hidden_layers,
            num_attention_heads=num_attention_heads,
            head_dim=head_dim or hidden_size // num_attention_heads,
            layer_types=layer_types or [pattern[i % 3] for i in range(num_hidden_layers)],
            eos_token_id=eos_token_id,
        )


class Vision(Config):
    def __init__(
        self,
        hidden_size: int = 768,
        num_hidden_layers: int = 12,
        num_heads: int = 12,
        image_size: int = 224,
        patch_size: int = 14,
        window_indexes: tuple[int, ...] = (2, 5),
        name: str = "default",
    ) -> None:
        super().__init__(
            hidden_size=hidden_size,
            num_hidden_layers=num_hidden_layers,
            num_heads=num_heads,
            image_size=image_size,
            patch_size=patch_size,
            window_indexes=window_indexes,
            name=name,
        )


class Both(Config):
    def __init__(
        self,
        text: Text | None = None,
        vision: Vision | None = None,
        image_token_id: int = 31999,
        video_token_id: int = 31998,
    ) -> None:
        super().__init__(
            text=text or Text(),
            vision=vision or Vision(name="given"),
            image_token_id=image_token_id,
            video_token_id=video_token_id,
        )


def test_widths_heads_and_layers_shrink_together() -> None:
    small = shrunk(Text(), MOST)

    assert vars(small) == {
        "vocab_size": 512,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "head_dim": 16,
        "layer_types": ["sliding", "full"],
        "eos_token_id": 511,
    }


def test_heads_of_all_parts_must_divide() -> None:
    small = shrunk(Both(), MOST)

    # 12 heads of 64 and 8 of 64: both divide by 4, and 64 by 4.
    assert (small.text.num_attention_heads, small.text.hidden_size) == (2, 32)
    assert (small.vision.num_heads, small.vision.hidden_size) == (3, 48)


def test_heads_that_do_not_divide_stay() -> None:
    small = shrunk(Text(num_attention_heads=6, hidden_size=96), MOST)

    assert (small.num_attention_heads, small.head_dim, small.hidden_size) == (3, 4, 12)


def test_a_part_keeps_the_values_it_was_given() -> None:
    small = shrunk(Both(vision=Vision(name="mine")), MOST)

    assert small.vision.name == "mine"


def test_special_tokens_that_agree_still_do() -> None:
    small = shrunk(Both(), MOST)

    assert (small.image_token_id, small.text.eos_token_id, small.video_token_id) == (510, 510, 511)
    assert special_tokens(small) == {510, 511}


def test_a_number_for_each_layer_is_kept_for_each_that_is_left() -> None:
    class Uneven(Config):
        def __init__(self, num_layers: int = 12, widths: list[int] | None = None) -> None:
            super().__init__(num_layers=num_layers, widths=widths or [5] * 6 + [7] * 6)

    assert vars(shrunk(Uneven(), MOST)) == {"num_layers": 2, "widths": [5, 7]}


def test_a_number_for_each_stage_is_not_one_for_each_layer() -> None:
    class Staged(Config):
        def __init__(self, num_layers: int = 4, widths: tuple[int, ...] = (5, 7, 9, 11)) -> None:
            super().__init__(num_layers=num_layers, widths=widths)

    assert vars(shrunk(Staged(), MOST)) == {"num_layers": 2, "widths": (5, 7, 9, 11)}


def test_what_a_class_leaves_open_but_models_need_is_given() -> None:
    class Open(Config):
        def __init__(
            self,
            hidden_size: int = 128,
            num_attention_heads: int = 8,
            head_dim: int | None = None,
            sliding_window: int | None = None,
            layer_types: tuple[str, ...] = ("sliding_attention",),
        ) -> None:
            super().__init__(
                hidden_size=hidden_size,
                num_attention_heads=num_attention_heads,
                head_dim=head_dim,
                sliding_window=sliding_window,
                layer_types=layer_types,
            )

    small = shrunk(Open(), MOST)

    assert (small.hidden_size, small.num_attention_heads) == (8, 2)
    assert (small.head_dim, small.sliding_window) == (4, 8)
    assert shrunk(Open(layer_types=("full",)), MOST).sliding_window is None


def test_a_pattern_of_layers_is_kept_whole() -> None:
    class Repeating(Config):
        def __init__(
            self, num_layers: int = 12, block_types: tuple[str, ...] = ("a", "a", "b")
        ) -> None:
            super().__init__(num_layers=num_layers, block_types=block_types)

    assert shrunk(Repeating(), MOST).num_layers == 3


def test_layers_named_by_index_are_kept_and_one_other() -> None:
    small = shrunk(Vision(), MOST)

    assert (small.num_hidden_layers, small.window_indexes) == (3, [1, 2])


def test_images_shrink_by_whole_patches() -> None:
    assert shrunk(Vision(), MOST).image_size == 56
    assert shrunk(Vision(), Shrinkage(heads=4, head=4, inner=16)).image_size == 224


def test_without_shrinkage_only_layers_and_tokens_do() -> None:
    small = shrunk(Text(), Shrinkage())

    assert (small.hidden_size, small.num_attention_heads, small.num_hidden_layers) == (512, 8, 2)


def test_few_layers_stay_as_they_are() -> None:
    small = shrunk(Text(num_hidden_layers=2), MOST)

    assert (small.num_hidden_layers, small.layer_types) == (2, ["sliding", "sliding"])


def test_the_original_is_left_alone() -> None:
    config = Both()
    before = [dict(vars(part)) for part in configs(config)]
    shrunk(config, MOST)

    assert [vars(part) for part in configs(config)] == before


def test_what_a_class_refuses_is_raised() -> None:
    class Picky(Text):
        def __init__(self, hidden_size: int = 512) -> None:
            if hidden_size < 512:
                raise ValueError("too small")
            super().__init__(hidden_size=hidden_size)

    with pytest.raises(ValueError, match="too small"):
        shrunk(Picky(), MOST)


def test_a_value_that_a_configuration_refuses_to_tell_is_read_from_it() -> None:
    class Uneven(Text):
        def __getattribute__(self, name: str) -> Any:
            if name == "head_dim":
                raise RuntimeError("layers differ")
            return super().__getattribute__(name)

    assert known(Uneven(), "head_dim") == 64
    assert known(Uneven(), "nothing") is None
