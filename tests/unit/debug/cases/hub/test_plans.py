"""Which inputs are drawn for a model follows from its forward's names and its configuration."""

from __future__ import annotations

from typing import Any

import pytest
from torch import nn

from capturelint.debug.cases.hub.draws import Draw, Fixed, Noise, Padding, Tokens
from capturelint.debug.cases.hub.options import options
from capturelint.debug.cases.hub.plans import CannotDrawError, Plan, argument_sets, plans


class Config:
    model_type = "any"

    def __init__(self, **values: Any) -> None:
        for name, value in values.items():
            setattr(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        return vars(self)


class Model(nn.Module):
    main_input_name = "input_ids"

    def __init__(self, **values: Any) -> None:
        super().__init__()
        self.config = Config(**values)

    def can_generate(self) -> bool:
        return True


class Text(Model):
    def forward(
        self, input_ids: Any = None, attention_mask: Any = None, labels: Any = None
    ) -> None: ...


class Dual(Model):
    def forward(
        self, input_ids: Any = None, attention_mask: Any = None, pixel_values: Any = None
    ) -> None: ...


class Speech(Model):
    main_input_name = "input_features"

    def forward(
        self, input_features: Any, attention_mask: Any = None, decoder_input_ids: Any = None
    ) -> None: ...


class Odd(Model):
    main_input_name = "states"

    def forward(self, states: Any) -> None: ...


def first(model: Model) -> Plan:
    return next(plans(model, next(argument_sets(model))))


def shapes(config: Config, name: str) -> list[tuple[int, ...]]:
    return [one.shape for one in options(config, name)]


def test_a_decoder_is_padded_at_the_left() -> None:
    plan = first(Text(vocab_size=5, pad_token_id=4))

    assert plan == {
        "input_ids": Tokens((2, 16), (3,)),
        "attention_mask": Padding((2, 16), left=True),
    }


def test_an_encoder_is_padded_at_the_right() -> None:
    class Encoder(Text):
        def can_generate(self) -> bool:
            return False

    assert first(Encoder())["attention_mask"] == Padding((2, 16), left=False)


def test_more_arguments_are_tried_after_those_that_are_needed() -> None:
    assert list(argument_sets(Dual())) == [
        ["input_ids", "attention_mask"],
        ["input_ids", "attention_mask", "pixel_values"],
    ]


def test_an_encoder_decoder_needs_what_it_decodes() -> None:
    plan = first(
        Speech(is_encoder_decoder=True, num_mel_bins=80, max_source_positions=30, vocab_size=5)
    )

    assert plan == {
        "input_features": Noise((2, 80, 60)),
        "decoder_input_ids": Tokens((2, 6), (3, 4)),
    }


def test_what_nobody_can_draw_is_named() -> None:
    with pytest.raises(CannotDrawError, match=r"^states$"):
        first(Odd())


def test_token_ids_leave_out_special_ones_of_every_part() -> None:
    config = Config(vocab_size=8, image_token_id=5, text=Config(vocab_size=7, eos_token_id=[4, 6]))

    assert options(config, "input_ids")[0] == Tokens((2, 16), (3,))


@pytest.mark.parametrize(
    ("config", "name", "shape"),
    [
        (Config(image_size=48, num_channels=1), "pixel_values", (2, 1, 48, 48)),
        (Config(vision=Config(image_size=[32, 48])), "pixel_values", (2, 3, 32, 48)),
        (Config(), "pixel_values", (2, 3, 64, 64)),
        (Config(image_size=32, num_frames=8), "pixel_values_videos", (2, 8, 3, 32, 32)),
        (Config(feature_size=12), "input_features", (2, 64, 12)),
        (Config(), "input_values", (2, 8000)),
        (Config(max_length=99, num_mel_bins=12), "input_values", (2, 99, 12)),
        (Config(context_length=9, num_input_channels=4), "past_values", (2, 9, 4)),
        (Config(patch_size=2, spatial_merge_size=1), "hidden_states", (4, 12)),
        (Config(hidden_size=24), "inputs_embeds", (2, 16, 24)),
        (Config(cross_attention_hidden_size=20), "encoder_hidden_states", (2, 16, 20)),
    ],
)
def test_the_first_guess_at_a_shape(config: Config, name: str, shape: tuple[int, ...]) -> None:
    assert shapes(config, name)[0] == shape


def test_a_grid_has_whole_merged_patches() -> None:
    found: tuple[Draw, ...] = options(Config(spatial_merge_size=3), "image_grid_thw")

    assert found == (Fixed((1, 3), (1, 6, 6)),)


def test_an_unknown_name_has_no_options() -> None:
    assert options(Config(), "states") == ()
