"""Settings as a Python caller gives them."""

from __future__ import annotations

import math
from dataclasses import fields

import pytest

from capturelint.debug.backend import BackendError
from capturelint.debug.choices import BadSettingError, UnknownSettingError, settings_from
from capturelint.debug.settings import Settings
from capturelint.errors import CapturelintError


class FakeDtype:
    def __str__(self) -> str:
        return "torch.bfloat16"


def test_without_any_the_defaults_hold() -> None:
    assert settings_from({}) == Settings()


def test_all_defaults_may_be_given() -> None:
    defaults = {field.name: getattr(Settings(), field.name) for field in fields(Settings)}

    assert settings_from(defaults) == Settings()


@pytest.mark.parametrize(
    ("name", "value", "chosen"),
    [
        ("modules", "layers.*", ("layers.*",)),
        ("skip", ["a", "b"], ("a", "b")),
        ("redraw", ("ids",), ("ids",)),
        ("dtype", "bfloat16", "bfloat16"),
        ("dtype", FakeDtype(), "bfloat16"),
        ("autocast", None, None),
        ("timeout", 5, 5.0),
        ("timeout", math.inf, math.inf),
        ("warmup", 0, 0),
        ("rtol", 0, 0.0),
        ("atol", 1e-3, 1e-3),
        ("backend", "simulated", "simulated"),
    ],
)
def test_a_value_is_taken_as_it_is_meant(name: str, value: object, chosen: object) -> None:
    assert getattr(settings_from({name: value}), name) == chosen


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("replays", 0, "replays is '0'; it must be 1 or more"),
        ("replays", "six", "replays is 'six'; it must be of type int"),
        ("replays", True, "replays is 'True'; it must be of type int"),
        ("replays", 2.0, "replays is '2.0'; it must be of type int"),
        ("train", 1, "train is '1'; it must be of type bool"),
        ("warmup", -1, "warmup is '-1'; it must be 0 or more"),
        ("rtol", math.nan, "rtol is 'nan'; it must be 0 or more"),
        ("timeout", 0, "timeout is '0'; it must be more than 0 seconds"),
        ("timeout", math.nan, "timeout is 'nan'; it must be more than 0 seconds"),
        ("timeout", None, "timeout is 'None'; it must be of type float"),
        ("skip", [1], "skip is '(1,)'; it must be of type tuple[str, ...]"),
        ("skip", 1, "skip is '1'; it must be text, or several in a list"),
        ("dtype", "half", "dtype is 'half'; it must be one of float16, bfloat16, float32, float64"),
        ("autocast", "float32", "autocast is 'float32'; it must be one of float16, bfloat16"),
        ("seed", "x" * 99, f"seed is {'x' * 60!r}; it must be of type int"),
    ],
)
def test_a_wrong_value_is_named_with_what_is_right(name: str, value: object, message: str) -> None:
    with pytest.raises(BadSettingError) as caught:
        settings_from({name: value})

    assert str(caught.value) == message


def test_an_unknown_name_is_a_type_error_that_names_the_nearest() -> None:
    with pytest.raises(TypeError) as caught:
        settings_from({"replay": 3})

    assert isinstance(caught.value, UnknownSettingError | CapturelintError)
    assert str(caught.value) == "there is no setting 'replay'; did you mean replays?"


def test_far_from_every_name_all_are_listed() -> None:
    with pytest.raises(UnknownSettingError, match=r"'x'; the settings are backend, train, dtype"):
        settings_from({"x": 3})


def test_a_backend_that_does_not_exist_is_refused_at_once() -> None:
    with pytest.raises(BackendError) as caught:
        settings_from({"backend": "gpu"})

    assert str(caught.value) == "no backend 'gpu'; the backends are auto, cuda, simulated"


def test_a_mode_of_errors_that_torch_does_not_have_is_refused() -> None:
    with pytest.raises(CapturelintError) as caught:
        settings_from({"capture_error_mode": "strict"})

    assert str(caught.value) == (
        "capture_error_mode is 'strict'; it must be one of global, thread_local, relaxed"
    )
