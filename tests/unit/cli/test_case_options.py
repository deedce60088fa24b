"""The options of commands that run a case: what they mean, and what each mistake is answered with."""

from __future__ import annotations

import argparse

import pytest

from capturelint.cli.case_options import BadOptionError, add_case_arguments, case_settings
from capturelint.debug.settings import Settings


def settings(*words: str) -> Settings:
    parser = argparse.ArgumentParser()
    add_case_arguments(parser)
    parser.add_argument("--first", action="store_true")
    return case_settings(parser.parse_args(["case.py:make", *words]))


def test_without_options_the_settings_are_the_defaults() -> None:
    assert settings() == Settings()


def test_every_option_reaches_its_setting() -> None:
    given = (
        "--backend simulated --train --dtype bfloat16 --autocast float16 --replays 9 --warmup 0"
        " --cold --modules layers.*,head --modules norm --skip vision.* --rtol 1e-3 --atol 0"
        " --redraw tokens --batch-dim x=0,y=1 --timeout 2.5 --first --seed 7 --record-limit 64 --capture-error-mode relaxed"
    )

    assert settings(*given.split()) == Settings(
        backend="simulated",
        train=True,
        dtype="bfloat16",
        autocast="float16",
        replays=9,
        warmup=0,
        cold=True,
        modules=("layers.*", "head", "norm"),
        skip=("vision.*",),
        rtol=1e-3,
        atol=0.0,
        redraw=("tokens",),
        batch_dim=("x=0", "y=1"),
        timeout=2.5,
        first=True,
        seed=7,
        record_limit=64,
        capture_error_mode="relaxed",
    )


def test_warm_up_until_state_is_stable_can_be_asked_for() -> None:
    assert settings("--warmup", "auto").warmup is None
    assert settings("--warmup", "12").warmup == 12


@pytest.mark.parametrize(
    ("option", "value", "allowed"),
    [
        ("--backend", "cpu", "one of auto, cuda, simulated"),
        (
            "--backend",
            "simulate",
            "one of auto, cuda, simulated; did you mean simulated?",
        ),
        ("--backend", "", "one of auto, cuda, simulated"),
        ("--capture-error-mode", "x", "one of global, thread_local, relaxed"),
        (
            "--dtype",
            "bf16",
            "one of float16, bfloat16, float32, float64; did you mean bfloat16?",
        ),
        ("--dtype", "int8", "one of float16, bfloat16, float32, float64"),
        ("--dtype", "", "one of float16, bfloat16, float32, float64"),
        ("--autocast", "float64", "one of float16, bfloat16; did you mean float16?"),
        ("--replays", "0", "a whole number, 1 or more"),
        ("--replays", "1.5", "a whole number, 1 or more"),
        ("--replays", "-1", "a whole number, 1 or more"),
        ("--replays", "1e3", "a whole number, 1 or more"),
        ("--replays", "\u0663", "a whole number, 1 or more"),
        ("--warmup", "aut", "auto or a whole number, 0 or more; did you mean auto?"),
        ("--warmup", "-3", "auto or a whole number, 0 or more"),
        ("--seed", "4294967296", "a whole number, 0 to 4294967295"),
        ("--rtol", "-1e-3", "a number, 0 or more, such as 1e-3"),
        ("--atol", "nan", "a number, 0 or more, such as 1e-3"),
        ("--atol", "inf", "a number, 0 or more, such as 1e-3"),
        ("--atol", "tight", "a number, 0 or more, such as 1e-3"),
        ("--timeout", "0", "a number of seconds, more than 0"),
        ("--timeout", "5m", "a number of seconds, more than 0"),
        ("--record-limit", "4GiB", "a whole number, 1 or more"),
        ("--call", "a b", "the name of a method, such as generate_step"),
        ("--call", "", "the name of a method, such as generate_step"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_allowed(option: str, value: str, allowed: str) -> None:
    with pytest.raises(BadOptionError) as caught:
        settings(f"{option}={value}")

    assert str(caught.value) == f"`{option}` is {value!r}; it must be {allowed}"


@pytest.mark.parametrize(
    "words",
    [
        ["--seed", "4294967295"],
        ["--replays", "1"],
        ["--rtol", ".5"],
        ["--record-limit", "1"],
        ["--call", "forward_step"],
        ["--timeout", "0.001"],
    ],
)
def test_values_at_the_edge_are_taken(words: list[str]) -> None:
    settings(*words)


def test_a_long_value_is_cut() -> None:
    with pytest.raises(BadOptionError) as caught:
        settings("--replays", "9" * 5000)

    assert str(caught.value) == (
        f"`--replays` is '{'9' * 60}...'; it must be a whole number, 1 or more"
    )
