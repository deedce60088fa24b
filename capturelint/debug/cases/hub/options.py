"""What an argument of a model's forward may be, the likeliest first, told by name and configuration."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from capturelint.debug.cases.hub.draws import Draw, Fixed, Noise, Tokens
from capturelint.debug.cases.hub.shrinking import configs, known, special_tokens

_BATCH = 2
_LENGTHS = (16, 64, 128)  # of a text, in tokens
_DECODED = 6  # tokens that a decoder receives
_FRAMES = (64, 200, 1024, 3000)  # of a spectrogram
_SAMPLES = (8000, 19200, 32000)  # of a sound wave
_SIDES = (64, 224, 128)  # of an image, in pixels


def options(config: Any, name: str) -> tuple[Draw, ...]:
    """Return what the argument `name` may be; nothing where its name tells nothing."""
    for pattern, draws in _BY_NAME:
        if re.fullmatch(pattern, name):
            return tuple(dict.fromkeys(draws(config)))
    return ()


def _texts(config: Any) -> Iterable[Draw]:
    pool = _pool(config)
    yield from (Tokens((_BATCH, length), pool) for length in _LENGTHS)
    books = _number(config, "num_codebooks", "num_quantizers", "nb_codebooks", "n_codebooks")
    if books:
        length = _LENGTHS[0]
        for shape in ((length, books), (books, length)):
            yield Tokens((_BATCH, *shape), pool)
        yield Tokens((_BATCH * books, length), pool)


def _decoded(config: Any) -> Iterable[Draw]:
    pool = _pool(config)
    books = _number(config, "num_codebooks", "num_channels")
    yield Tokens((_BATCH, _DECODED), pool)
    if books:
        yield Tokens((_BATCH, _DECODED, books), pool)
        yield Tokens((_BATCH * books, _DECODED), pool)


def _images(config: Any) -> Iterable[Draw]:
    channels, sides = _channels(config), _sides(config)
    yield from (Noise((_BATCH, channels, *side)) for side in sides)
    frames = _number(config, "num_frames") or 2
    yield from (Noise((_BATCH, count, channels, *sides[0])) for count in (1, frames))
    patch, merged = _number(config, "patch_size") or 1, _number(config, "spatial_merge_size") or 2
    pixels = channels * patch * patch
    yield Noise((_BATCH, _LENGTHS[0], pixels))
    for together in {1, _number(config, "temporal_patch_size") or 1}:
        yield Noise(((2 * merged) ** 2, together * pixels))


def _videos(config: Any) -> Iterable[Draw]:
    frames = _number(config, "num_frames", "frames_per_clip") or 2
    channels = _channels(config)
    yield from (Noise((_BATCH, frames, channels, *side)) for side in _sides(config))


def _spectra(config: Any) -> Iterable[Draw]:
    bins = _number(config, *_BINS) or 80
    positions = _number(config, "max_source_positions")
    if positions:
        yield Noise((_BATCH, bins, 2 * positions))
    for frames in _FRAMES:
        yield Noise((_BATCH, frames, bins))
        yield Noise((_BATCH, bins, frames))
    yield Noise((_BATCH, 1, 1024, bins))


def _waves(config: Any) -> Iterable[Draw]:
    frames, bins = _number(config, "max_length"), _number(config, *_BINS) or 80
    if frames:
        yield Noise((_BATCH, frames, bins))
    for samples in _SAMPLES:
        yield Noise((_BATCH, samples))
        yield Noise((_BATCH, 1, samples))
    yield from (Noise((_BATCH, count, bins)) for count in _FRAMES)


def _series(config: Any) -> Iterable[Draw]:
    length, channels = (
        _number(config, "context_length") or 32,
        _number(config, "num_input_channels"),
    )
    yield Noise((_BATCH, length, channels or 1))
    yield Noise((_BATCH, length + _longest_lag(config)))
    yield Noise((_BATCH, length))


def _past_features(config: Any) -> Iterable[Draw]:
    length = (_number(config, "context_length") or 32) + _longest_lag(config)
    yield Noise((_BATCH, length, _number(config, "num_time_features") or 0))


def _future_values(config: Any) -> Iterable[Draw]:
    yield Noise((_BATCH, _number(config, "prediction_length") or 1))


def _future_features(config: Any) -> Iterable[Draw]:
    length = _number(config, "prediction_length") or 1
    yield Noise((_BATCH, length, _number(config, "num_time_features") or 0))


def _embedded(config: Any) -> Iterable[Draw]:
    """Yield hidden states, which in encoders of images may also be patches laid in a row."""
    patch, merged = _number(config, "patch_size"), _number(config, "spatial_merge_size") or 2
    if patch and _number(config, "temporal_patch_size", "spatial_merge_size"):
        frames = _number(config, "temporal_patch_size") or 1
        pixels = _channels(config) * frames * patch * patch
        yield Noise(((2 * merged) ** 2, pixels))
        yield Noise(((2 * merged) ** 2, _channels(config), patch, patch))
    for width in (
        _number(config, "hidden_size", "d_model", "n_embd"),
        _number(config, "input_dim"),
    ):
        yield Noise((_BATCH, _LENGTHS[0], width or 64))


def _encoded(config: Any) -> Iterable[Draw]:
    width = _number(config, "encoder_hidden_size", "cross_attention_hidden_size", "hidden_size")
    yield Noise((_BATCH, _LENGTHS[0], width or 64))


def _grids(config: Any) -> Iterable[Draw]:
    """Yield time, height and width of one image, in patches."""
    side = 2 * (_number(config, "spatial_merge_size") or 2)
    yield Fixed((1, 3), (1, side, side))


def _merged(config: Any) -> Iterable[Draw]:
    yield Fixed((1,), (_number(config, "spatial_merge_size") or 2,))


def _shapes(_config: Any) -> Iterable[Draw]:
    """Yield height and width of each image, in as many patches as are laid in a row."""
    yield Fixed((_BATCH, 2), (4, 4))


def _boxes(_config: Any) -> Iterable[Draw]:
    yield Fixed((_BATCH, _LENGTHS[0], 4), (1, 2, 5, 9))
    yield Fixed((_BATCH, _LENGTHS[0], 4), (0.1, 0.2, 0.5, 0.9), whole=False)


def _points(_config: Any) -> Iterable[Draw]:
    yield Noise((_BATCH, 1, 2, 2))


def _flat_patches(config: Any) -> Iterable[Draw]:
    """Yield patches with their row and column before their pixels."""
    patch = _number(config, "patch_size") or 16
    yield Noise((_BATCH, _LENGTHS[0], 2 + _channels(config) * patch * patch))


_BINS = (
    "input_dim num_mel_bins input_feat_per_channel feature_size feature_projection_input_dim "
    "n_mels mel_dim"
).split()
_BY_NAME: tuple[tuple[str, Callable[[Any], Iterable[Draw]]], ...] = (
    (r"decoder_input_ids", _decoded),
    (r"(\w+_)?input_ids", _texts),
    (r"pixel_values_videos?", _videos),
    (r"pixel_values(_images)?|image", _images),
    (r"input_features|audio_mel|spectrogram", _spectra),
    (r"input_values", _waves),
    (r"past_values", _series),
    (r"past_time_features", _past_features),
    (r"future_values", _future_values),
    (r"future_time_features", _future_features),
    (r"encoder_hidden_states", _encoded),
    (r"hidden_states|\w+_embeds", _embedded),
    (r"(image_|video_)?grid_thw", _grids),
    (r"merge_sizes", _merged),
    (r"spatial_shapes", _shapes),
    (r"bbox", _boxes),
    (r"input_points", _points),
    (r"flattened_patches", _flat_patches),
)


def _number(config: Any, *names: str) -> int | None:
    """Return the first number that the configuration or one of its parts has under these names."""
    for part in configs(config):
        for name in names:
            value = known(part, name)
            value = value[0] if isinstance(value, list | tuple) and value else value
            if type(value) is int and value > 0:
                return value
    return None


def _pool(config: Any) -> tuple[int, ...]:
    """Return token ids that have no meaning of their own."""
    sizes = [known(part, "vocab_size") for part in configs(config)]
    size = min((one for one in sizes if type(one) is int and one > 0), default=100)
    special = special_tokens(config)
    plain = tuple(token for token in range(min(size, 400)) if token not in special and token > 2)
    return plain or tuple(range(size))


def _channels(config: Any) -> int:
    return _number(config, "num_channels", "in_channels", "in_chans") or 3


def _sides(config: Any) -> list[tuple[int, int]]:
    """Return heights and widths of images, that of the configuration first."""
    sides = [(side, side) for side in _SIDES]
    for part in configs(config):
        for name in ("image_size", "input_image_size", "img_size", "max_img_size", "video_size"):
            value = known(part, name)
            if type(value) is int:
                return [(value, value), *sides]
            if isinstance(value, list | tuple) and value:
                return [(value[0], value[-1]), *sides]
    return sides


def _longest_lag(config: Any) -> int:
    lags: list[int] = getattr(config, "lags_sequence", None) or [0]
    return max(lags)
